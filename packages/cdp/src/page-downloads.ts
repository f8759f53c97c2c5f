// Keeps pages from starting downloads with a link.
//
// Chromium 156 gives all downloads of a browser one request ID, and pauses only one request with an
// ID. While a download waits for its turn, Chromium sends all others at once: no session of the
// DevTools protocol sees them (measured). Navigations have IDs of their own. So a file that `goto`
// opens is downloaded after its check and its turn.
//
// A link with the attribute `download` starts a download when it is activated. Activation is the
// default action of a click event, so this script cancels that event. The event of an element in
// the document passes the window. A script can also click elements outside of a document. So the
// methods that dispatch events listen to the tree of the element.
//
// These downloads still start:
// - in an empty popup, and in the first document of a popup. No script of ours runs there: see
//   speculation-rules.ts;
// - from a link in a closed declarative shadow root, because the event does not name the link;
// - from a link whose address the page changes from `blob:` or `data:` while it handles the event.

/**
 * A script for each new document, to run before the document's own scripts. The page's scripts can
 * replace each method of a prototype. The script therefore binds the methods that it needs when it
 * starts, and uses no other method later.
 */
export const FORBID_DOWNLOADS: string = `(() => {
  const bind = (method) => Function.prototype.call.bind(method)
  const getter = (owner, name) => bind(Object.getOwnPropertyDescriptor(owner, name).get)
  const typeOf = getter(Event.prototype, 'type')
  const isCancelable = getter(Event.prototype, 'cancelable')
  const isPrevented = getter(Event.prototype, 'defaultPrevented')
  const localNameOf = getter(Element.prototype, 'localName')
  const isClosed = getter(window, 'closed')
  const protocolOfLink = getter(HTMLAnchorElement.prototype, 'protocol')
  const protocolOfArea = getter(HTMLAreaElement.prototype, 'protocol')
  const getAttribute = bind(Element.prototype.getAttribute)
  const removeAttribute = bind(Element.prototype.removeAttribute)
  const composedPathOf = bind(Event.prototype.composedPath)
  const preventDefault = bind(Event.prototype.preventDefault)
  const rootOf = bind(Node.prototype.getRootNode)
  const listen = bind(EventTarget.prototype.addEventListener)
  const unlisten = bind(EventTarget.prototype.removeEventListener)
  const warn = console.warn.bind(console)
  const { apply } = Reflect
  const own = window
  // A getter throws for an object of another type. "instanceof" would be wrong for an object of
  // another window.
  const attempt = (read) => { try { return read() } catch { return undefined } }

  const onClick = (event) => {
    if (isPrevented(event)) return
    const path = composedPathOf(event)
    for (let i = 0; i < path.length; i++) {
      const link = path[i]
      const name = attempt(() => localNameOf(link))
      if ((name !== 'a' && name !== 'area') || getAttribute(link, 'download') === null) continue
      const protocol = attempt(() => protocolOfLink(link)) ?? attempt(() => protocolOfArea(link))
      if (protocol === 'blob:' || protocol === 'data:') return // sends no request
      if (isCancelable(event)) preventDefault(event)
      else removeAttribute(link, 'download') // the click becomes a navigation, which waits for its turn
      warn('Politely: a page cannot start downloads; open the file with goto: ' + getAttribute(link, 'href'))
      return
    }
  }
  listen(window, 'click', onClick, true)

  const composed = { composed: true }
  // The listeners of a window end with it, but a page can keep its functions. They click nothing then.
  const dispatchGuarded = (target, dispatch) => {
    if (isClosed(own)) return undefined
    const root = attempt(() => rootOf(target, composed)) ?? target
    listen(root, 'click', onClick, true)
    try { return dispatch() } finally { unlisten(root, 'click', onClick, true) }
  }
  const { attachShadow } = Element.prototype
  const { click } = HTMLElement.prototype
  const { dispatchEvent } = EventTarget.prototype
  Element.prototype.attachShadow = {
    attachShadow(init) {
      const root = apply(attachShadow, this, arguments)
      listen(root, 'click', onClick, true)
      return root
    },
  }.attachShadow
  HTMLElement.prototype.click = {
    click() { return dispatchGuarded(this, () => apply(click, this, arguments)) },
  }.click
  EventTarget.prototype.dispatchEvent = {
    dispatchEvent(event) {
      const dispatch = () => apply(dispatchEvent, this, arguments)
      return attempt(() => typeOf(event)) === 'click' ? dispatchGuarded(this, dispatch) : dispatch()
    },
  }.dispatchEvent
})()`
