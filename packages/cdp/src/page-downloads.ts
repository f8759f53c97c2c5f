// Keeps pages from starting downloads with a link.
//
// Chromium 156 pauses only one download at a time in each session of the DevTools protocol, so two in
// the sessions of the guard. Meanwhile it sends all others at once, and no session sees them
// (measured).
// So downloads must end in the page, before Chromium requests anything. Navigations aren't
// affected: a file that `goto` opens is downloaded after its check and its turn.
//
// When a click activates a link with the attribute `download`, Chromium fires a `navigate` event
// (HTML, "download the hyperlink"). The event comes after all click listeners, with the final URL,
// so no listener of the page can change the link any more. This script cancels the event. It
// listens before the page's scripts run, so it's called first.
//
// Some documents have no navigate events: the empty document that a new frame or popup begins with.
// There the script cancels the click itself. The page's listeners run later and can still change
// the link, and the script does not see each click. It does not run in the first document of a
// popup at all: see speculation-rules.ts. The guard fails the download that Chromium pauses. Others
// that a page starts there in the same moment are sent.

import { PAGE_METHODS } from './page-methods.ts'

/** A script for each new document, to run before the document's own scripts. */
export const FORBID_DOWNLOADS: string = `(() => {${PAGE_METHODS}
  const isPrevented = getter(Event, 'defaultPrevented')
  const downloadRequestOf = getter(NavigateEvent, 'downloadRequest')
  const destinationOf = getter(NavigateEvent, 'destination')
  const urlOf = getter(NavigationDestination, 'url')
  const currentEntryOf = getter(Navigation, 'currentEntry')
  const hrefOfLink = getter(HTMLAnchorElement, 'href')
  const hrefOfArea = getter(HTMLAreaElement, 'href')
  const getAttribute = bind(Element.prototype.getAttribute)
  const composedPathOf = bind(Event.prototype.composedPath)
  const preventDefault = bind(Event.prototype.preventDefault)
  const listen = bind(EventTarget.prototype.addEventListener)
  const warn = console.warn.bind(console)
  const { navigation } = window
  // A getter throws for an object of another type. "instanceof" would be wrong for an object of
  // another window.
  const attempt = (read) => { try { return read() } catch { return undefined } }

  const cancelDownload = (event, url) => {
    if (exec(/^(?:blob|data):/, url) !== null) return // sends no request
    preventDefault(event)
    warn('Politely: a page cannot start downloads; open the file with goto: ' + url)
  }
  // A capturing listener: a page's own one would be called before a listener that is not capturing.
  listen(navigation, 'navigate', (event) => {
    if (!isPrevented(event) && downloadRequestOf(event) !== null) cancelDownload(event, urlOf(destinationOf(event)))
  }, true)

  const onClick = (event) => {
    if (currentEntryOf(navigation) !== null || isPrevented(event)) return // the document has navigate events
    const path = composedPathOf(event)
    for (let i = 0; i < path.length; i++) {
      const link = path[i]
      const name = attempt(() => localNameOf(link))
      if ((name !== 'a' && name !== 'area') || getAttribute(link, 'download') === null) continue
      cancelDownload(event, attempt(() => hrefOfLink(link)) ?? attempt(() => hrefOfArea(link)) ?? '')
      return
    }
  }
  listen(window, 'click', onClick, true)
})()`
