import { satteri } from '@astrojs/markdown-satteri'
import starlight from '@astrojs/starlight'
import { defineConfig } from 'astro/config'
import { contentSecurityPolicy } from './src/build/content-security-policy.ts'
import { documentLinks } from './src/docs/links.ts'
import { REPOSITORY } from './src/docs/repository.ts'
import { sidebar } from './src/docs/sidebar.ts'

export default defineConfig({
  // Every link to a page is relative, so the site works at any address.
  trailingSlash: 'always',
  markdown: { processor: satteri({ mdastPlugins: [documentLinks] }) },
  integrations: [
    starlight({
      title: 'Politely',
      description: 'A robots.txt client for crawlers: may I fetch this URL, and when, and why?',
      sidebar: sidebar(),
      social: [{ icon: 'github', label: 'The repository', href: REPOSITORY }],
      markdown: { processedDirs: ['../..'] },
      components: {
        Search: './src/components/Search.astro',
      },
      customCss: [
        '@fontsource-variable/source-sans-3/wght.css',
        '@fontsource-variable/source-sans-3/wght-italic.css',
        '@fontsource-variable/source-code-pro/wght.css',
        './src/styles/theme.css',
      ],
      credits: false,
    }),
    contentSecurityPolicy(),
  ],
  // Every script is a file, so that the Content-Security-Policy need not allow inline scripts.
  vite: { build: { assetsInlineLimit: 0 } },
})
