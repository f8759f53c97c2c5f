// The ways in which a page can navigate its window.

import type { Reply } from '../servers/sites.ts'
import { htmlPage } from '../servers/small-pages.ts'
import { type BrowserCase, RULES } from './browser-fixture.ts'

/** Runs code in a page after it has loaded: Chromium would else take the next page for its redirect. */
const loaded = (code: string) => `<script>addEventListener('load', () => setTimeout(() => { ${code} }))</script>`
const script = (code: string) => htmlPage(loaded(code))
const clicked = (html: string) => htmlPage(html + loaded("document.querySelector('#it').click()"))

/** By name: returns a page that navigates to this URL. */
const WAYS: Readonly<Record<string, (url: string) => Reply>> = {
  location: (url) => script(`location = '${url}'`),
  replace: (url) => script(`location.replace('${url}')`),
  'navigation-api': (url) => script(`navigation.navigate('${url}').finished.catch(() => 0)`),
  open: (url) => script(`open('${url}', '_self')`),
  link: (url) => clicked(`<a id="it" href="${url}">next</a>`),
  area: (url) => clicked(`<map><area id="it" href="${url}"></map>`),
  'svg-link': (url) =>
    htmlPage(
      `<svg><a href="${url}"><text>next</text></a></svg>${loaded("document.querySelector('svg a').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))")}`,
    ),
  form: (url) => clicked(`<form method="post" action="${url}"><button id="it">next</button></form>`),
  button: (url) => clicked(`<form method="post" action="/"><button id="it" formaction="${url}">next</button></form>`),
  meta: (url) => htmlPage(`<meta http-equiv="refresh" content="0; url=${url}">`),
  header: (url) => htmlPage('', { refresh: `0; url=${url}` }),
  frame: (url) =>
    htmlPage(
      `<iframe srcdoc="<script>parent.addEventListener('load', () => setTimeout(() => { top.location = '${url}' }))</script>"></iframe>`,
    ),
  'javascript-url': (url) => script(`location = 'javascript:void (location = \\'${url}\\')'`),
}
const NAMES = Object.keys(WAYS)

export const browserNavigationCase: BrowserCase = {
  name: `navigations are checked: ${NAMES.join(', ')}`,
  web: {
    '/robots.txt': RULES,
    ...Object.fromEntries(NAMES.map((name) => [`/to/${name}`, WAYS[name]?.(`/private/${name}`) ?? RULES])),
  },
  run: async ({ tab, at, gateEvent }) => {
    for (const name of NAMES) {
      const refused = gateEvent('refuse', `/private/${name}`)
      await tab.goto(at(`/to/${name}`))
      await refused
    }
  },
  requested: NAMES.map((name) => `/to/${name}`).toSorted(),
}
