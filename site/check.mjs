// Every link in the site that was made leads to a file of it, and to an anchor that is there. The network is not asked.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { address, base, sidebars } from './pages.mjs'

const dist = fileURLToPath(new URL('target/dist', import.meta.url))
const problems = new Set()
const texts = new Map()

function fileOf(route) {
  const name = path.join(dist, route)
  return [name, name + '.html', path.join(name, 'index.html')].find((file) => fs.existsSync(file) && fs.statSync(file).isFile())
}

function text(file) {
  if (!texts.has(file)) {
    texts.set(file, fs.readFileSync(file, 'utf8'))
  }
  return texts.get(file)
}

function check(from, link) {
  const url = new URL(link.replaceAll('&amp;', '&'), `${address}${base}${from}`)
  if (url.origin !== address) {
    return
  }
  const route = decodeURIComponent(url.pathname)
  const file = route.startsWith(base) ? fileOf(route.slice(base.length)) : undefined
  if (file === undefined) {
    problems.add(`${from}: ${link} does not exist`)
  } else if (url.hash && file.endsWith('.html') && !text(file).includes(`id="${decodeURIComponent(url.hash.slice(1))}"`)) {
    problems.add(`${from}: ${link} has no such heading`)
  }
}

const files = fs
  .readdirSync(dist, { recursive: true })
  .map((file) => file.replaceAll(path.sep, '/'))
  .filter((file) => !file.startsWith('javadoc/'))
let links = 0
for (const file of files.filter((name) => name.endsWith('.html'))) {
  for (const [, link] of text(path.join(dist, file)).matchAll(/\s(?:href|src)="([^"]+)"/g)) {
    links++
    check(file, link)
  }
}
for (const [, link] of text(path.join(dist, 'llms.txt')).matchAll(/(https:[^)\s]+)/g)) {
  links++
  check('llms.txt', link)
}
const named = Object.values(sidebars).flatMap((groups) => groups.flatMap((group) => group.items))
named.forEach(({ link }) => check('', base + link.slice(1)))
if (problems.size > 0) {
  console.error([...problems].join('\n'))
  process.exit(1)
}
const html = files.filter((name) => name.endsWith('.html')).length
console.log(`${html} pages with ${links} links; ${named.length} entries of the sidebars: ${path.relative(process.cwd(), dist)}`)
