import { base, address, repository, sidebars, sources, version } from '../pages.mjs'

const hasJavadoc = process.env.SITE_JAVADOC === 'yes'

/** GitHub's rule, on which the links of the pages and their tests rely. */
function anchor(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

function nav(home, words) {
  return [
    { text: words.start, link: `${home}getting-started` },
    { text: words.annotation, link: `${home}annotation` },
    { text: words.troubleshooting, link: `${home}troubleshooting` },
    ...(hasJavadoc ? [{ text: 'Javadoc', link: '/javadoc/index.html', target: '_self' }] : []),
    { text: version, link: '/changelog' },
  ]
}

export default {
  title: 'Lock Spring Boot',
  description: "Distributed locks for Spring Boot on the application's own Redis",
  base,
  srcDir: 'target/pages',
  srcExclude: ['public/**'],
  outDir: 'target/dist',
  cacheDir: 'target/cache',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  head: [['link', { rel: 'icon', href: base + 'lock.svg' }]],
  sitemap: { hostname: address + base },
  markdown: {
    anchor: { slugify: anchor },
    toc: { slugify: anchor },
    headers: { slugify: anchor },
    languageAlias: { redis: 'sh' },
  },
  locales: {
    root: {
      label: 'English',
      lang: 'en',
      themeConfig: {
        nav: nav('/', { start: 'Start', annotation: 'Annotation', troubleshooting: 'Troubleshooting' }),
        sidebar: { '/': sidebars['/'] },
        editLink: { pattern: edit(), text: 'Edit this page' },
      },
    },
    zh: {
      label: '简体中文',
      lang: 'zh-CN',
      description: '基于应用自有 Redis 的 Spring Boot 分布式锁',
      themeConfig: {
        nav: nav('/zh/', { start: '快速上手', annotation: '注解', troubleshooting: '问题排查' }),
        sidebar: { '/zh/': sidebars['/zh/'] },
        editLink: { pattern: edit(), text: '编辑本页' },
        outline: { level: [2, 3], label: '本页目录' },
        docFooter: { prev: '上一页', next: '下一页' },
        darkModeSwitchLabel: '外观',
        lightModeSwitchTitle: '浅色模式',
        darkModeSwitchTitle: '深色模式',
        sidebarMenuLabel: '目录',
        returnToTopLabel: '回到顶部',
        langMenuLabel: '语言',
        skipToContentLabel: '跳到正文',
        notFound: { title: '没有这一页', quote: '地址可能写错了，或者页面已经改名。', linkLabel: '回到首页', linkText: '回到首页' },
      },
    },
  },
  themeConfig: {
    logo: '/lock.svg',
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: repository }],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          options: { tokenize: words },
          searchOptions: { tokenize: sought, combineWith: 'AND', prefix: true, fuzzy: 0.1 },
        },
        locales: {
          zh: {
            translations: {
              button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
              modal: {
                displayDetails: '显示详情',
                resetButtonTitle: '清除',
                backButtonTitle: '关闭',
                noResultsText: '没有结果：',
                footer: { selectText: '打开', navigateText: '切换', closeText: '关闭' },
              },
            },
          },
        },
      },
    },
  },
  transformPageData(page) {
    page.frontmatter.source = sources[page.relativePath] ?? sources[page.relativePath.replace(/^zh\//, '')]
  },
}

/** Runs in the browser, so it is one function on its own. */
function edit() {
  return ({ frontmatter }) => `https://github.com/lockboot/lock-spring-boot-starter/edit/main/${frontmatter.source}`
}

/** Runs in the browser too. Chinese has no spaces, so any two neighbouring characters are a word. */
function words(text) {
  return text
    .toLowerCase()
    .split(/[\s\p{Z}\p{P}]+/u)
    .flatMap((part) => part.match(/\p{Script=Han}+|[^\p{Script=Han}]+/gu) ?? [])
    .flatMap((run) =>
      /\p{Script=Han}{2}/u.test(run) ? Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)) : [run],
    )
}

/** Likewise. What is looked for is cut into pairs that do not overlap, so that other characters may stand between them. */
function sought(text) {
  return text
    .toLowerCase()
    .split(/[\s\p{Z}\p{P}]+/u)
    .flatMap((part) => part.match(/\p{Script=Han}+|[^\p{Script=Han}]+/gu) ?? [])
    .flatMap((run) =>
      /\p{Script=Han}{2}/u.test(run)
        ? Array.from({ length: Math.ceil(run.length / 2) }, (_, at) => Math.min(2 * at, run.length - 2)).map((at) => run.slice(at, at + 2))
        : [run],
    )
}
