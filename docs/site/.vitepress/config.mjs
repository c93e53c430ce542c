// The configuration of the site: https://vitepress.dev/reference/site-config
import { defineConfig } from 'vitepress'
import { checkLinks } from '../check/links.mjs'
import { pagesFolder, writePages } from '../pages.mjs'
import { repositoryPages, slugify } from './links.mjs'
import { accessibleSearchBox } from './search-box.mjs'
import { renderForSearch, searchOptions } from './search.mjs'
import { createSidebar } from './sidebar.mjs'

const sources = writePages()

export default defineConfig({
  title: 'Edgewise',
  description: 'A TypeScript SDK for the Model Context Protocol, on Web standards only',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  head: [['link', { rel: 'icon', href: '/icon.svg', type: 'image/svg+xml' }]],
  markdown: {
    anchor: { slugify },
    // With enough contrast for small text, also for comments
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    config: repositoryPages,
  },
  vite: {
    plugins: [{ name: 'pages', configureServer }, accessibleSearchBox],
  },
  buildEnd: ({ outDir }) => checkLinks(outDir),
  themeConfig: {
    nav: [
      { text: 'Guide', link: '/start', activeMatch: '^/(?!reference|changelog)' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Changelog', link: '/changelog' },
    ],
    sidebar: createSidebar(),
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: { miniSearch: { searchOptions }, _render: renderForSearch },
    },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
})

/** Updates the pages while someone edits the documentation. */
function configureServer({ watcher }) {
  watcher.add(sources)
  watcher.on('change', (path) => {
    if (!path.startsWith(pagesFolder) && path.endsWith('.md')) writePages()
  })
}
