import { messages } from './messages.js';
import { add, draw, summary } from './chart.js';

const all = selector => [...document.querySelectorAll(selector)];
const one = id => document.getElementById(id);

const repository = 'https://github.com/lockboot/lock-spring-boot-starter/blob/main/';
const sources = 'sample-app/src/main/java/io/github/lockboot/sample/';
const inChinese = ['annotation', 'api', 'getting-started', 'guards', 'jobs', 'transactions']; // pages of docs that have a Chinese twin
const stillShown = 3_000; // ms for which a lock that is free again keeps its row
const stuckAfter = 3_300; // ms without a payment: longer than any mishap takes

let language = localStorage.getItem('language') ?? (navigator.language.startsWith('zh') ? 'zh' : 'en');
let snapshot = null;
let connection = 'connecting';
let messageTimer = 0;
const heldAt = {}; // when each lock was held last, by its row

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
  all('.links[data-source]').forEach(links => links.replaceChildren(...linksOf(links.dataset)));
  render();
}

/** To the page in the language of this one, if it has it, and to the sources. */
function linksOf({ doc, source }) {
  const page = `docs/${doc}${language === 'zh' && inChinese.includes(doc) ? '.zh-CN' : ''}.md`;
  return [
    link(t('links.doc'), repository + page),
    ...source.split(' ').map(file => link(file.split('/').pop(), repository + sources + file)),
  ];
}

function link(text, url) {
  const made = element('a', '', text);
  made.href = url;
  return made;
}

function render() {
  if (snapshot) {
    renderSecond();
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
  renderConnection();
  renderCharts();
}

function renderConnection() {
  one('connection').dataset.state = connection;
  one('connection').textContent = t(connection);
  const instances = snapshot && connection === 'live' ? snapshot.instances : [];
  one('instances').replaceChildren(...instances.map(({ name }) => {
    if (name === snapshot.instance) {
      return chip(name);
    }
    const other = link(`:${name}`, `${location.protocol}//${location.hostname}:${name}/`);
    other.className = 'chip';
    return other;
  }));
  all('[data-load]').forEach(button => {
    button.parentElement.querySelector('.why').textContent = reasonAgainst(button);
    button.disabled = reasonAgainst(button) !== '' || button.dataset.running === 'true' && 'whole' in button.dataset;
  });
}

/** Why a load cannot be started now; empty if it can. */
function reasonAgainst(button) {
  if (connection !== 'live' || !snapshot) {
    return t(`why.${connection}`);
  }
  return 'needsSecond' in button.dataset && snapshot.instances.length < 2 ? t('why.alone') : '';
}

function renderSecond() {
  one('second').hidden = snapshot.instances.length !== 1;
  one('second-command').textContent = snapshot.second;
}

function chip(instance, times = 1) {
  return element('span', instance === snapshot.instance ? 'chip me' : 'chip', `:${instance}${times > 1 ? ` ×${times}` : ''}`);
}

/** Those that are held, or were a moment ago. */
function renderLocks() {
  const now = Date.now();
  const counts = {};
  const shown = snapshot.locks.filter(lock => {
    counts[lock.scenario] = (counts[lock.scenario] ?? 0) + 1;
    const row = `${lock.scenario} ${counts[lock.scenario]}`;
    if (lock.holders.length) {
      heldAt[row] = now;
    }
    return now - (heldAt[row] ?? 0) < stillShown;
  });
  one('locks').replaceChildren(...shown.map(lock => {
    const row = element('div', 'lock');
    row.setAttribute('role', 'row');
    row.dataset.lock = lock.name;
    const cells = [nameOf(lock), holderOf(lock), element('span', 'token', lock.token || '–'), leaseOf(lock), queueOf(lock)];
    cells.forEach(cell => cell.setAttribute('role', 'cell'));
    row.append(...cells);
    return row;
  }));
  if (!shown.length) {
    one('locks').append(element('p', 'muted', t('locks.none')));
  }
}

function nameOf(lock) {
  const name = element('span', 'lock-name');
  const state = link('', `actuator/lock?name=${encodeURIComponent(lock.name)}`);
  state.title = lock.name;
  state.append(element('code', '', lock.name));
  name.append(state, element('small', '', t(`${lock.scenario}.title`)));
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
    const button = card.querySelector('button[data-load]');
    button.dataset.running = running;
    button.textContent = running && !('whole' in button.dataset) ? t('stop') : t(button.dataset.loadText ?? 'start');
    card.querySelectorAll('select').forEach(select => { select.disabled = running; });
  });
  all('[data-path]').forEach(target => {
    const value = valueAt(target.dataset.path) ?? '–';
    target.textContent = value;
    if ('wrong' in target.dataset) {
      mark(target, value);
    }
  });
  all('[data-of]').forEach(target => {
    const value = valueAt(target.dataset.of);
    target.textContent = value ? `/ ${value}` : '';
  });
}

function valueAt(path) {
  const [scenario, ...fields] = path.split('.');
  return fields.reduce((from, field) => from?.[field], snapshot.scenarios[scenario].state);
}

/** Green for nothing wrong, red for something. */
function mark(target, count) {
  target.classList.toggle('wrong', count > 0);
  target.classList.toggle('right', count === 0);
}

function renderPayments() {
  const { state } = snapshot.scenarios.payments;
  const modes = all('#payments [data-mode]').map(row => row.dataset.mode);
  const lost = mode => Math.max(0, state.accounts[mode].balance - state.accounts[mode].expected);
  const isStuck = mode => state.standstills[mode].currentMillis > stuckAfter;
  const fill = (target, value, count, ours) => {
    target.textContent = state.report ? value() : '–';
    const wrong = state.report && count ? count() : undefined;
    mark(target, wrong > 0 || ours ? wrong : undefined); // what has not gone wrong yet is no praise for the others
  };
  modes.forEach(mode => {
    const cell = figure => document.querySelector(`[data-mode='${mode}'] [data-figure='${figure}']`);
    const ours = mode === 'lock';
    fill(cell('payments'), () => state.report[mode].payments);
    fill(cell('overlaps'), () => state.report[mode].overlaps, () => state.report[mode].overlaps, ours);
    fill(cell('excess'), () => lost(mode).toFixed(2), () => lost(mode), ours);
    fill(cell('longest'), () => standstill(state.standstills[mode].longestMillis), () => +isStuck(mode), ours);
  });
  const handMade = modes.filter(mode => mode !== 'lock');
  const stuck = () => Math.max(0, ...handMade.filter(isStuck).map(mode => state.standstills[mode].currentMillis));
  const allLost = () => handMade.map(lost).reduce((sum, each) => sum + each, 0);
  fill(one('hand-made-stuck'), () => `${Math.floor(stuck() / 1_000)} s`, stuck);
  fill(one('hand-made-lost'), () => allLost().toFixed(2), allLost);
  fill(one('library-longest'), () => standstill(state.standstills.lock.longestMillis), () => +isStuck('lock'), true);
  fill(one('library-lost'), () => lost('lock').toFixed(2), () => lost('lock'), true);
}

function standstill(millis) {
  return `${(millis / 1_000).toFixed(1)} s`;
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

function renderCharts() {
  all('[data-waits]').forEach(card => {
    const names = card.dataset.waits.split(' ');
    const figure = card.querySelector('figure');
    figure.hidden = !card.classList.contains('details') && !names.some(summary);
    if (figure.hidden) {
      return;
    }
    draw(figure.querySelector('canvas'), names);
    figure.querySelector('.legend').replaceChildren(...names.map(name => {
      const figures = summary(name);
      const entry = element('div', '');
      entry.style.setProperty('--series', `var(--series-${name})`);
      entry.append(
        element('dt', '', t(`waits.${name}`)),
        element('dd', '', figures ? t('waits.legend', { median: time(figures.median), longest: time(figures.longest) }) : '–'));
      return entry;
    }));
  });
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

/** What all cards begin with, the reason why a button is disabled, and the waiting times. */
all('[data-card]').forEach(card => card.insertAdjacentHTML('afterbegin', `
  <div class="card-head"><h3 data-t="${card.dataset.card}.title"></h3><span class="badge" data-running></span></div>
  <p class="muted" data-t="${card.dataset.card}.text"></p>`));
all('[data-load]').forEach(button => button.parentElement.append(element('span', 'why', '')));
all('[data-waits]').forEach(card => {
  const chart = document.createElement('figure');
  const title = card.classList.contains('details') ? 'waits.title' : 'waits.short';
  chart.innerHTML = `<figcaption data-t="${title}"></figcaption><canvas role="img"></canvas><dl class="legend"></dl>`;
  card.insertBefore(chart, card.querySelector(':scope > pre'));
});
one('copy').addEventListener('click', async () => {
  await navigator.clipboard.writeText(one('second-command').textContent);
  one('copy').textContent = t('second.copied');
  setTimeout(() => { one('copy').textContent = t('second.copy'); }, 2_000);
});
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
