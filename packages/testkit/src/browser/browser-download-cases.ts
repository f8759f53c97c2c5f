// The ways in which a page can start a download with a link. All of them are switched off.
//
// The file `/attack.js` tries each way, for a disallowed file and for an allowed one. Each way that
// works would request files at once, without a check and without a wait. The cases load it into
// several kinds of documents. A document is done when it has requested `/done`.
import type { Reply } from '../servers/sites.ts'
import { htmlPage, scriptOf } from '../servers/small-pages.ts'
import { type BrowserCase, type BrowserFixture, HOME, RULES } from './browser-fixture.ts'

/** How to click a link, by name. `link` is an `<a>` without an address, `url` the file to request. */
const WAYS: Readonly<Record<string, string>> = {
  'link in the document': `link.href = url; link.download = ''; document.body.append(link); link.click()`,
  'link outside of a document': `link.href = url; link.download = ''; link.click()`,
  'event that cannot be canceled': `link.href = url; link.download = ''; document.body.append(link)
    link.dispatchEvent(new MouseEvent('click'))`,
  'listener that makes the link a download': `link.href = url; document.body.append(link); link.onclick = becomeDownload; link.click()`,
  'the same outside of a document': `link.href = url; link.onclick = becomeDownload; link.click()`,
  'listener that replaces the address of a blob': `link.href = blob; link.download = ''; document.body.append(link)
    link.onclick = () => { link.href = url }; link.click()`,
  'listener that replaces a data: URL': `link.href = 'data:,text'; link.download = ''
    link.onclick = () => { link.setAttribute('href', url) }; link.click()`,
  'listener on the window': `link.href = url; document.body.append(link)
    window.addEventListener('click', (event) => { event.stopImmediatePropagation(); becomeDownload.call(link) }, { once: true })
    link.click()`,
  'listener of navigate events': `navigation.addEventListener('navigate', (event) => event.stopImmediatePropagation(), true)
    link.href = url; link.download = ''; document.body.append(link); link.click()`,
  'closed shadow root': `document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'closed' }).append(link)
    link.href = url; link.onclick = becomeDownload; link.click()`,
  'area of an image map': `const area = document.createElement('area'); area.href = url; document.body.append(area)
    area.onclick = () => { area.download = '' }; area.click()`,
  'method of another window': `const frame = document.body.appendChild(document.createElement('iframe'))
    link.href = url; link.onclick = becomeDownload; frame.contentWindow.HTMLElement.prototype.click.call(link)`,
  'end of the document': `link.href = url; document.body.append(link); link.onclick = becomeDownload
    for (const type of ['beforeunload', 'pagehide', 'unload']) addEventListener(type, () => link.click())`,
  // The last one: the methods stay replaced.
  'replaced methods': `Event.prototype.preventDefault = () => undefined; RegExp.prototype.exec = () => ['']
    Object.defineProperty(NavigateEvent.prototype, 'downloadRequest', { get: () => null })
    link.href = url; link.onclick = becomeDownload; document.body.append(link); link.click()`,
}

const ATTACK = `(() => {
  const { src } = document.currentScript
  const blob = URL.createObjectURL(new Blob(['text']))
  const fetchDone = fetch.bind(window, src.replace('/attack.js', '/done'))
  function becomeDownload() { this.download = '' }
  for (const folder of ['/private/', '/file/']) {
    ${Object.values(WAYS)
      .map(
        (way, i) =>
          `{ const url = new URL(folder + '${i}', src).href; const link = document.createElement('a'); ${way} }`,
      )
      .join('\n')}
  }
  setTimeout(fetchDone, 300)
})()`

const attackOf = (name: string) => `<body><script src="${HOME}/attack.js?${name}"></script>`

/** Returns a page that loads the attack into a frame, whose address this expression gives. */
const inFrame = (name: string, address: string) =>
  `<iframe></iframe><script>{ const attack = ${JSON.stringify(attackOf(name)).replaceAll('</', '<\\/')}
    document.querySelectorAll('iframe').item(document.querySelectorAll('iframe').length - 1).src = ${address} }</script>`

const DOCUMENTS: Readonly<Record<string, string>> = {
  page: attackOf('page'),
  frame: '<iframe src="/frame"></iframe>',
  srcdoc: `<iframe srcdoc='${attackOf('srcdoc')}'></iframe>`,
  blob: inFrame('blob', "URL.createObjectURL(new Blob([attack], { type: 'text/html' }))"),
  javascript: inFrame('javascript', "'javascript:' + JSON.stringify(attack)"),
}

const done = (name: string) => `/done?${name}`
const script = (name: string) => `/attack.js?${name}`

const replies = (names: readonly string[]): Record<string, Reply> =>
  Object.fromEntries(names.map((name) => [script(name), scriptOf(ATTACK)]))

/** Resolves when the attack has run in each of these documents. */
async function allDone({ sites }: BrowserFixture, names: readonly string[]): Promise<void> {
  while (!names.every((name) => sites.requestedPages.includes(`${HOME}${done(name)}`)))
    await sites.requested(sites.requests.length + 1)
}

const names = Object.keys(DOCUMENTS)

export const downloadsCase: BrowserCase = {
  name: 'a page cannot start downloads that need a request, in any way and in any kind of document',
  web: {
    '/robots.txt': RULES,
    '/open': htmlPage(
      `${Object.values(DOCUMENTS).join('\n')}
      <a id="first" download href="/private/first"><b>file</b></a><a id="second" download href="/file">file</a>
      <div id="host"><template shadowrootmode="closed"><a download href="/private/root" style="display: block">file</a></template></div>`,
    ),
    '/frame': htmlPage(attackOf('frame')),
    '/next': htmlPage(),
    ...replies(names),
  },
  run: async (fixture) => {
    const { sites, tab, at } = fixture
    await tab.goto(at('/open'))
    await allDone(fixture, names)
    for (const selector of ['b', '#second', '#host']) await tab.click(selector)
    await tab.goto(at('/next'))
    await tab.evaluate("void setTimeout(() => fetch('/last'), 300)")
    while (!sites.requestedPages.includes(`${HOME}/last`)) await sites.requested(sites.requests.length + 1)
  },
  requested: ['/frame', '/last', '/next', '/open', ...names.flatMap((name) => [script(name), done(name)])].sort(),
}

const windowNames = ['other-site', 'popup', 'second']

export const downloadsInWindowsCase: BrowserCase = {
  name: 'a page cannot start downloads from a frame of another site, nor from its popups',
  web: {
    '/robots.txt': RULES,
    'http://127.0.0.1:PORT/frame': htmlPage('<script src="/attack.js?other-site"></script>'),
    'http://127.0.0.1:PORT/attack.js?other-site': scriptOf(ATTACK),
    // The script does not run in the first document of a popup with an opener, so the second one attacks.
    '/open': htmlPage(`<iframe src="http://127.0.0.1:PORT/frame" onload="window.open('/first')"></iframe>`),
    '/first': htmlPage("<script>setTimeout(() => { location = '/second' })</script>"),
    '/second': htmlPage(
      `${attackOf('second')}<script>setTimeout(() => open('/popup', '_blank', 'noopener'), 500)</script>`,
    ),
    '/popup': htmlPage(attackOf('popup')),
    ...replies(windowNames),
  },
  run: async ({ sites, tab, at }) => {
    await tab.goto(at('/open'))
    const isDone = (name: string) => sites.requestedPages.some((url) => url.endsWith(done(name)))
    while (!windowNames.every(isDone)) await sites.requested(sites.requests.length + 1)
  },
  requested: [
    '/attack.js?popup',
    '/attack.js?second',
    '/done?popup',
    '/done?second',
    '/first',
    '/open',
    '/popup',
    '/second',
    ...['/attack.js?other-site', '/done?other-site', '/frame'].map((path) => `http://127.0.0.1:PORT${path}`),
  ].sort(),
}

/**
 * Three links in an empty frame, which the page's listeners make downloads. Each session of the guard
 * still pauses one of the first two when Chromium sends the third.
 */
export const emptyFrameCase: BrowserCase = {
  name: 'of three downloads in an empty frame, Chromium sends the third one without a check',
  web: {
    '/robots.txt': { status: 200, body: 'User-agent: *\nDisallow: /private\nCrawl-delay: 60\n' },
    '/open': htmlPage(`<iframe></iframe><script>
      const download = ({ contentDocument }) => {
        for (const path of ['/private/first', '/private/second', '/private/third']) {
          const link = contentDocument.body.appendChild(contentDocument.createElement('a'))
          link.href = path; link.onclick = () => { link.download = '' }; link.click()
        }
      }
      download(document.querySelector('iframe'))
      // At times the guard's script reaches the frame first, and switches the downloads off.
      setInterval(() => download(document.body.appendChild(document.createElement('iframe'))), 2_000)</script>`),
  },
  run: async ({ sites, tab, at }) => {
    await tab.goto(at('/open'))
    while (!sites.requestedPages.includes(`${HOME}/private/third`)) await sites.requested(sites.requests.length + 1)
  },
  requested: ['/open', '/private/third'],
}
