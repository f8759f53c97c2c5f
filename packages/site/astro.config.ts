import { satteri } from '@astrojs/markdown-satteri'
import starlight from '@astrojs/starlight'
import { defineConfig } from 'astro/config'
import { ADDRESS, address } from './src/build/address.ts'
import { contentSecurityPolicy } from './src/build/content-security-policy.ts'
import { search } from './src/build/search.ts'
import { charts } from './src/charts/charts.ts'
import { documentLinks } from './src/docs/links.ts'
import { REPOSITORY } from './src/docs/repository.ts'
import { sidebar } from './src/docs/sidebar.ts'
import { namedRows, tables } from './src/docs/tables.ts'

export default defineConfig({
  base: ADDRESS?.pathname ?? '/',
  trailingSlash: 'always',
  markdown: {
    processor: satteri({
      features: { smartPunctuation: false },
      mdastPlugins: [documentLinks, charts],
      hastPlugins: [tables, namedRows],
    }),
  },
  integrations: [
    starlight({
      title: 'Politely',
      description: 'A robots.txt client for crawlers: may I fetch this URL, and when, and why?',
      sidebar: sidebar(),
      social: [{ icon: 'github', label: 'The repository', href: REPOSITORY }],
      markdown: { processedDirs: ['../..'] },
      components: {
        Footer: './src/components/Footer.astro',
        Hero: './src/components/Hero.astro',
        MarkdownContent: './src/components/MarkdownContent.astro',
        PageTitle: './src/components/PageTitle.astro',
        Search: './src/components/Search.astro',
        SocialIcons: './src/components/HeaderLinks.astro',
      },
      favicon: '/favicon.svg',
      disable404Route: true, // src/pages/404.astro
      // Level 3 has the names of an API page.
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      expressiveCode: {
        themes: ['vitesse-dark', 'vitesse-light'],
        useStarlightUiThemeColors: true,
        styleOverrides: {
          codeFontSize: 'var(--code-size)',
          codeLineHeight: '1.65',
          borderRadius: '0.375rem',
          frames: { shadowColor: 'transparent' },
        },
      },
      customCss: [
        '@fontsource-variable/source-sans-3/wght.css',
        '@fontsource-variable/source-sans-3/wght-italic.css',
        '@fontsource-variable/source-code-pro/wght.css',
        './src/styles/theme.css',
        './src/styles/charts.css',
      ],
      credits: false,
    }),
    contentSecurityPolicy(),
    search(),
    address(),
  ],
  // Every script is a file, so that the Content-Security-Policy need not allow inline scripts.
  vite: { build: { assetsInlineLimit: 0 } },
})
