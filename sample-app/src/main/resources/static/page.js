import { messages } from './messages.js';
import { add, draw, series, summary } from './chart.js';

const all = selector => [...document.querySelectorAll(selector)];
const one = id => document.getElementById(id);

let language = localStorage.getItem('language') ?? (navigator.language.startsWith('zh') ? 'zh' : 'en');
let snapshot = null;
let connection = 'connecting';
let messageTimer = 0;
const moved = {}; // by mode of payment: the number of payments, and when it last changed

function t(key, words = {}) {
  const text = messages[key]?.[language === 'zh' ? 1 : 0] ?? key;
  return text.replace(/\{([\w-]+)}/g, (whole, word) => words[word] ?? whole);
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text ?? '';
  return made;
}

function translate() {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  document.title = t('title');
  all('[data-t]').forEach(target => { target.textContent = t(target.dataset.t); });
  all('[data-language]').forEach(button => button.setAttribute('aria-pressed', button.dataset.language === language));
  render();
}

function render() {
  renderConnection();
  if (snapshot) {
    renderLocks();
    renderScenarios();
    renderPayments();
    renderPacket();
    renderTickets();
    renderFencing();
    renderHandOver();
    renderLeader();
    renderEvents('events', snapshot.events);
  }
  renderChart();
}

function renderConnection() {
  one('connection').dataset.state = connection;
  const names = snapshot && connection === 'live' ? snapshot.instances.map(instance => `:${instance.name}`) : [];
  one('instances').textContent = [t(connection), ...names].join(' ');
}

function chip(instance, times = 1) {
  return element('span', instance === snapshot.instance ? 'chip me' : 'chip', `:${instance}${times > 1 ? ` ×${times}` : ''}`);
}

function renderLocks() {
  one('locks').replaceChildren(...snapshot.locks.map(lock => {
    const row = element('div', 'lock');
    row.setAttribute('role', 'row');
    row.dataset.lock = lock.name;
    const cells = [nameOf(lock), holderOf(lock), element('span', 'token', lock.token || '–'), leaseOf(lock), queueOf(lock)];
    cells.forEach(cell => cell.setAttribute('role', 'cell'));
    row.append(...cells);
    return row;
  }));
}

function nameOf(lock) {
  const name = element('span', 'lock-name');
  const code = element('code', '', lock.name);
  code.title = lock.name;
  name.append(code, element('small', '', t(`${lock.scenario}.title`)));
  return name;
}

function holderOf(lock) {
  const holder = element('span', 'holder');
  const counts = new Map();
  lock.holders.filter(Boolean).forEach(instance => counts.set(instance, (counts.get(instance) ?? 0) + 1));
  holder.append(...[...counts].map(([instance, times]) => chip(instance, times)));
  if (lock.kind || !counts.size) {
    const how = !lock.holders.length ? 'free' : !counts.size ? 'on-its-way' : lock.kind < 0 ? 'readers' : 'permits';
    holder.append(element('small', '', t(`locks.${how}`, { count: lock.holders.length, limit: lock.kind })));
  }
  return holder;
}

function leaseOf(lock) {
  const lease = element('span', 'lease');
  const bar = element('span', 'bar');
  const fill = element('span', '');
  fill.style.width = lock.holders.length ? `${Math.min(100, 100 * lock.leftMs / lock.ttlMs)}%` : '0';
  bar.append(fill);
  lease.append(bar, element('span', 'left', lock.holders.length ? `${(lock.leftMs / 1_000).toFixed(1)} s` : ''));
  return lease;
}

function queueOf(lock) {
  const queue = element('span', 'queue');
  queue.append(...lock.queue.map(instance => chip(instance)));
  const threads = snapshot.instances
    .map(instance => instance.waiting[lock.scenario] ?? 0)
    .reduce((sum, count) => sum + count, 0);
  if (threads > 0 && lock.holders.length) {
    queue.append(element('span', '', t('locks.threads', { count: threads })));
  }
  return queue;
}

function renderScenarios() {
  all('[data-scenario]').forEach(card => {
    const running = snapshot.scenarios[card.dataset.scenario].running;
    card.querySelector('[data-running]').textContent = running ? t('running') : '';
    const button = card.querySelector('[data-load]');
    button.dataset.running = running;
    button.disabled = running && 'whole' in button.dataset;
    button.textContent = running && !button.disabled ? t('stop') : t(button.dataset.loadText ?? 'start');
    card.querySelectorAll('select').forEach(select => { select.disabled = running; });
  });
  all('[data-path]').forEach(target => {
    const [scenario, ...path] = target.dataset.path.split('.');
    const value = path.reduce((from, field) => from?.[field], snapshot.scenarios[scenario].state) ?? '–';
    target.textContent = value;
    if ('wrong' in target.dataset) {
      mark(target, value);
    }
  });
}

/** Green for nothing wrong, red for something. */
function mark(target, count) {
  target.classList.toggle('wrong', count > 0);
  target.classList.toggle('right', count === 0);
}

function renderPayments() {
  const { running, state } = snapshot.scenarios.payments;
  const report = state.report ?? {};
  one('payments').replaceChildren(...['setnx', 'expiring', 'owned', 'lock'].map(mode => {
    const row = element('tr', '');
    row.dataset.mode = mode;
    const name = element('td', '');
    name.append(element('code', '', mode), element('small', '', t(`payments.${mode}`)));
    row.append(name);
    const figures = report[mode];
    const paid = element('td', '', figures ? figures.payments : '–');
    paid.dataset.figure = 'payments';
    if (figures && standsStill(mode, figures.payments) && running) {
      paid.append(element('small', 'wrong', t('payments.still')));
    }
    row.append(paid);
    const excess = figures ? excessOf(state.accounts[mode]) : null;
    for (const [figure, value] of [
      ['overlaps', figures?.overlaps], ['lostUpdates', figures?.lostUpdates], ['excess', excess],
    ]) {
      const cell = element('td', '', value ?? '–');
      cell.dataset.figure = figure;
      if (value != null) {
        mark(cell, value);
      }
      row.append(cell);
    }
    return row;
  }));
}

/** What the account has too much, in yuan; a payment that is just being counted may make it less than nothing. */
function excessOf({ balance, expected }) {
  return Math.max(0, Math.round(100 * (balance - expected)) / 100);
}

/** Whether there was no payment for longer than any mishap takes. */
function standsStill(mode, payments) {
  if (moved[mode]?.payments !== payments) {
    moved[mode] = { payments, at: Date.now() };
  }
  return Date.now() - moved[mode].at > 3_300;
}

function renderPacket() {
  const packet = snapshot.scenarios['red-packets'].state;
  one('packet-bar').style.width = packet.count ? `${100 * (1 - packet.remaining / packet.count)}%` : '0';
}

function renderTickets() {
  const { sold } = snapshot.scenarios.tickets.state;
  const windows = Object.entries(sold ?? {});
  const counts = windows.map(([, count]) => count);
  const most = Math.max(1, ...counts);
  one('tickets-sold').textContent = counts.length ? counts.reduce((sum, count) => sum + count, 0) : '–';
  one('tickets-spread').textContent = counts.length ? most - Math.min(...counts) : '–';
  one('windows').replaceChildren(...windows.map(([number, count]) => {
    const window = element('div', 'window', String(count));
    const bar = element('span', '');
    bar.style.height = `${90 * count / most}px`;
    window.append(bar, t('tickets.window', { number }));
    return window;
  }));
}

function renderFencing() {
  const { price } = snapshot.scenarios.fencing.state;
  one('price').textContent = price ? t(`fencing.value.${price}`) : '–';
}

/** The parts of the job that are done, each with the instance that did it, and those ahead. */
function renderHandOver() {
  const { text, parts: newest } = snapshot.scenarios.handover.state;
  const parts = [...newest].reverse();
  const ahead = Array.from({ length: 6 - parts.length }, () => element('span', 'chip ahead', '–'));
  one('parts').replaceChildren(...parts.map(part => chip(part.instance)), ...ahead);
  one('job-token').textContent = parts[0]?.token ?? '–';
  one('job-text').textContent = text || '–';
}

/** Who leads is in the lock; since when is in the change with its token. */
function renderLeader() {
  const { changes, runs } = snapshot.scenarios.leader.state;
  const { holders: [leader], token } = snapshot.locks.find(lock => lock.name === 'leader:publisher');
  const since = changes.find(change => change.kind === 'leads' && change.token === token);
  one('leader').textContent = leader ? `:${leader}` : '–';
  one('leader-since').textContent = leader && since ? clock(since.at) : '–';
  one('leader-token').textContent = leader ? token : '–';
  renderEvents('changes', changes);
  renderEvents('runs', runs);
}

function renderEvents(list, events) {
  const kinds = { lost: 'bad', refused: 'good', crashed: 'bad', 'both-orders': 'bad', 'given-up': 'bad', 'take-over-refused': 'good' };
  const lines = events.map(event => {
    const line = element('li', '');
    line.dataset.kind = event.kind;
    const words = {
      ...event,
      price: event.price && t(`fencing.value.${event.price}`),
      outcome: t(event.outcome ?? ''),
      message: event.message?.split('; see ')[0], // without the address of the page that explains it
    };
    line.append(element('time', '', clock(event.at)), element('span', kinds[event.kind] ?? '', t(`event.${event.kind}`, words)));
    return line;
  });
  one(list).replaceChildren(...(lines.length ? lines : [element('li', 'empty', t('events.none'))]));
}

function clock(millis) {
  return new Date(+millis).toLocaleTimeString(language === 'zh' ? 'zh-CN' : 'en-GB');
}

function renderChart() {
  draw(one('chart'));
  one('legend').replaceChildren(...series.flatMap(name => {
    const figures = summary(name);
    if (!figures) {
      return [];
    }
    const entry = element('div', '');
    entry.style.setProperty('--series', `var(--series-${name})`);
    entry.append(
      element('dt', '', t(`waits.${name}`)),
      element('dd', '', t('waits.legend', { median: time(figures.median), longest: time(figures.longest) })));
    return [entry];
  }));
}

function time(millis) {
  return millis < 10 ? `${millis.toFixed(1)} ms` : millis < 1_000 ? `${Math.round(millis)} ms` : `${(millis / 1_000).toFixed(1)} s`;
}

async function toggleLoad(card) {
  const running = card.querySelector('[data-load]').dataset.running === 'true';
  const query = new URLSearchParams();
  const mode = card.querySelector('select[data-mode]');
  const seconds = card.querySelector('[data-seconds]');
  if (mode) {
    query.set('mode', mode.value);
  }
  query.set('seconds', seconds?.value ?? card.querySelector('[data-load]').dataset.loadSeconds ?? 10);
  try {
    const answer = await fetch(`loads/${card.dataset.scenario}${running ? '' : `?${query}`}`, { method: running ? 'DELETE' : 'POST' });
    if (!answer.ok) {
      say(t('failed', { detail: (await answer.json()).detail }));
    }
  } catch (failure) {
    say(t('failed', { detail: failure.message }));
  }
}

function say(text) {
  one('message').textContent = text;
  one('message').hidden = false;
  clearTimeout(messageTimer);
  messageTimer = setTimeout(() => { one('message').hidden = true; }, 6_000);
}

function listen() {
  const live = new EventSource('live');
  live.onopen = () => { connection = 'live'; render(); };
  live.onerror = () => { connection = 'lost'; render(); };
  live.addEventListener('outage', () => { connection = 'outage'; render(); });
  live.addEventListener('snapshot', event => {
    connection = 'live';
    snapshot = JSON.parse(event.data);
    add(snapshot.waits);
    render();
  });
}

/** What all cards of scenarios begin with: title, whether it runs, and text. */
all('[data-scenario]').forEach(card => card.insertAdjacentHTML('afterbegin', `
  <div class="card-head"><h2 data-t="${card.dataset.scenario}.title"></h2><span class="badge" data-running></span></div>
  <p class="muted" data-t="${card.dataset.scenario}.text"></p>`));
all('[data-language]').forEach(button => button.addEventListener('click', () => {
  language = button.dataset.language;
  localStorage.setItem('language', language);
  translate();
}));
all('[data-scenario]').forEach(card =>
  card.querySelector('[data-load]').addEventListener('click', () => toggleLoad(card)));
all('[data-load]').forEach(button => { button.textContent = t(button.dataset.loadText ?? 'start'); });
translate();
listen();
