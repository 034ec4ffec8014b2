// The pages of the site, from those of the repository: which there are, how they are called, and where their links lead.
// As a program it writes them to target/pages.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = fileURLToPath(new URL('target/pages', import.meta.url))

export const repository = 'https://github.com/lockboot/lock-spring-boot-starter'
export const address = 'https://lockboot.github.io'
export const base = process.env.SITE_BASE ?? '/lock-spring-boot-starter/'
export const version = /<revision>(.*)<\/revision>/.exec(read('pom.xml'))[1]

const CHINESE = '.zh-CN.md'
const FENCED = /^[ \t]*(`{3,}|~{3,}).*\n[\s\S]*?^[ \t]*\1[ \t]*$|(`+)(?!`)[\s\S]*?[^`]\2(?!`)/gm
const PICTURE = /\.(svg|png)$/
const LINK = /(\]\(\s*<?)([^)\s>]+)/g
const IN_HTML = /((?:href|src|srcset)=")([^"\s]+)/g

/** Pages outside docs/ that the site has too. */
const OTHERS = {
  'README.md': 'index.md',
  'README.zh-CN.md': 'zh/index.md',
  'docs/README.md': 'documentation.md',
  'docs/README.zh-CN.md': 'zh/documentation.md',
  'CHANGELOG.md': 'changelog.md',
  'CODE_OF_CONDUCT.md': 'code-of-conduct.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
}

function read(file) {
  return fs.readFileSync(path.join(root, file), 'utf8')
}

function docs() {
  return fs
    .readdirSync(path.join(root, 'docs'), { recursive: true })
    .map((file) => 'docs/' + file.replaceAll(path.sep, '/'))
    .filter((file) => file.endsWith('.md') && !file.includes('/target/'))
    .sort()
}

/** Where the site has a page of the repository: docs/a.zh-CN.md is zh/a.md. */
function place(file) {
  if (OTHERS[file]) {
    return OTHERS[file]
  }
  const inDocs = file.slice('docs/'.length).replace(/README(\.zh-CN)?\.md$/, 'index$1.md')
  return inDocs.endsWith(CHINESE) ? 'zh/' + inDocs.replace(CHINESE, '.md') : inDocs
}

/** Places by files of the repository. */
export const pages = new Map(
  [...Object.keys(OTHERS).filter((file) => fs.existsSync(path.join(root, file))), ...docs()].map((file) => [file, place(file)]),
)

/** Files by places: what the site's own link "edit" leads to. */
export const sources = Object.fromEntries([...pages].map(([file, at]) => [at, file]))

function title(file) {
  const heading = /^# (.*)$/m.exec(read(file).replace(FENCED, (block) => (block.includes('\n') ? '' : block)))
  return heading[1].replace(/<[^>]+>|`/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}

/** The address on the site, without its base. */
function route(at) {
  return '/' + at.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')
}

const isChinese = (file) => file.endsWith(CHINESE)

/** Why a reader would open a page, by the tables of the lists of contents. */
const reasons = new Map()

/**
 * The pages that a list of contents names, by its headings, each where it is named first. What stands above the first
 * heading says what to read in which order, and sorts nothing.
 */
function contents(list, first) {
  const seen = new Set()
  const groups = [{ text: first, files: [] }]
  const text = read(list).replace(FENCED, (code) => (code.includes('\n') ? '' : code))
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) {
      groups.push({ text: line.slice(3).replace(/<[^>]+>/g, ''), files: [] })
    }
    for (const link of line.matchAll(LINK)) {
      const file = path.posix.normalize(path.posix.join(path.posix.dirname(list), link[2].replace(/#.*/, '')))
      const above = groups.length === 1
      if (file.startsWith('docs/') && pages.has(file) && file !== list && !seen.has(file) && !above) {
        seen.add(file)
        groups.at(-1).files.push(file)
        const wish = /^\| ([^|[]+) \| \[/.exec(line)
        if (wish && isChinese(file) === isChinese(list)) {
          reasons.set(file, wish[1])
        }
      }
    }
  }
  return groups.filter((group) => group.files.length > 0)
}

const twin = (file) => file.replace(/\.md$/, CHINESE)
const of = (list, first, language) =>
  contents(list, first)
    .map((group) => ({ ...group, files: group.files.filter((file) => isChinese(file) === language) }))
    .filter((group) => group.files.length > 0)
const english = of('docs/README.md', 'Documentation', false)
const chinese = pages.has('docs/README.zh-CN.md')
  ? of('docs/README.zh-CN.md', '文档', true)
  : [{ text: '文档', files: english.flatMap((group) => group.files.map(twin)).filter((file) => pages.has(file)) }]
const onlyEnglish = english.flatMap((group) => group.files).filter((file) => !pages.has(twin(file)))

const items = (files) => files.map((file) => ({ text: title(file), link: route(pages.get(file)) }))
const project = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md']

export const sidebars = {
  '/': [
    ...english.map((group) => ({ text: group.text, items: items(group.files) })),
    { text: 'Project', collapsed: true, items: items(project) },
  ],
  '/zh/': [
    ...chinese.map((group) => ({ text: group.text, items: items(group.files) })),
    { text: '只有英文', collapsed: true, items: items([...onlyEnglish, ...project]) },
  ],
}

/** Pages that no list of contents names: a reader would not find them. */
function unnamed() {
  const lists = ['docs/README.md', 'docs/README.zh-CN.md'].filter((list) => pages.has(list))
  const named = new Set(lists.flatMap((list) => contents(list, '').flatMap((group) => group.files)))
  return docs().filter((file) => !named.has(file) && !lists.includes(file))
}

/** Copies a picture to the site. */
function picture(file) {
  const at = 'images/' + path.posix.basename(file)
  for (const folder of [target, path.join(target, 'public')]) {
    fs.cpSync(path.join(root, file), path.join(folder, at))
  }
  return at
}

/** Links between pages of the site stay links between pages; others lead to the file in the repository. */
function linked(file, text) {
  const codes = []
  const from = path.posix.dirname(pages.get(file))
  const masked = text.replace(FENCED, (code) => '\u0000' + (codes.push(code) - 1) + '\u0000')
  const lead = (all, before, link) => {
    if (/^([a-z]+:|#)/.test(link)) {
      return all
    }
    const [, name, anchor] = /^([^#]*)(.*)$/.exec(link)
    const meant = path.posix.normalize(path.posix.join(path.posix.dirname(file), decodeURIComponent(name)))
    const at = PICTURE.test(meant) ? picture(meant) : pages.get(meant)
    if (at === undefined) {
      const kind = fs.statSync(path.join(root, meant)).isDirectory() ? 'tree' : 'blob'
      return `${before}${repository}/${kind}/main/${meant.replace(/\/$/, '')}${anchor}`
    }
    const relative = path.posix.relative(from, at)
    return before + (relative.startsWith('.') ? '' : './') + relative + anchor
  }
  return masked.replace(LINK, lead).replace(IN_HTML, lead).replace(/\u0000(\d+)\u0000/g, (all, index) => codes[index])
}

/** What an assistant reads first: llmstxt.org. Each link leads to the page as Markdown. */
function llms() {
  const summary = read('README.md')
    .replace(/<!--[\s\S]*?-->/g, '')
    .split(/\n{2,}/)
    .find((paragraph) => /^[A-Z](?!nglish · )/.test(paragraph.trim()))
  const entry = (file) => `- [${title(file)}](${address}${base}${pages.get(file)})${reasons.has(file) ? ': ' + reasons.get(file) : ''}`
  const sections = english.map((group) => `## ${group.text}\n\n${group.files.map(entry).join('\n')}`)
  return [
    `# ${title('README.md')}`,
    `> ${summary.trim().replaceAll('\n', '\n> ')}`,
    `Version ${version}. How to put a lock on a method, in one page for an assistant: ${address}${base}skills/distributed-lock/SKILL.md`,
    ...sections,
    `## 中文\n\n${['README.zh-CN.md', ...chinese.flatMap((group) => group.files)].map(entry).join('\n')}`,
    `## Optional\n\n${project.map(entry).join('\n')}`,
  ].join('\n\n') + '\n'
}

function write(at, text) {
  const file = path.join(target, at)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const missing = unnamed()
  if (missing.length > 0) {
    console.error(`docs/README.md does not name these pages, so the site would have no way to them:\n  ${missing.join('\n  ')}`)
    process.exit(1)
  }
  for (const [file, at] of pages) {
    const text = linked(file, read(file))
    // The search knows a heading by its text and its id, and by nothing else in it.
    write(at, text.replace(/^(#+) <a id="([\w-]+)"><\/a>(.*)$/gm, '$1 $3 {#$2}'))
    // The page as Markdown, beside the page.
    write('public/' + at, text)
  }
  const places = new Set(pages.values())
  for (const [file, at] of pages) {
    if (!at.startsWith('zh/') && !places.has('zh/' + at)) {
      // For a reader who changes the language there.
      const english = path.posix.relative(path.posix.dirname('zh/' + at), at)
      write('zh/' + at, `---\nsearch: false\n---\n\n# ${title(file)}\n\n本页只有英文：[${title(file)}](${english})\n`)
    }
  }
  fs.cpSync(path.join(root, 'skills'), path.join(target, 'public/skills'), { recursive: true })
  fs.cpSync(fileURLToPath(new URL('lock.svg', import.meta.url)), path.join(target, 'public/lock.svg'))
  write('public/llms.txt', llms())
  console.log(`${pages.size} pages of ${version}`)
}
