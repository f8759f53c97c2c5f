// Removes speculation rules from pages. With such rules a page makes the browser prefetch, or even prerender, pages that the user may visit
// next. Nothing can stop these requests in Chromium (measured with 156: no session of the protocol sees them, and no switch disables them).
// Chromium follows the rules of pages and ignores those of frames (measured).

/**
 * A script for each new document, to run before the document's own scripts. It does not run in the first document of a popup: that document
 * takes over the window of an empty document, and no script starts again in it. This was measured, also with a script that the protocol knew
 * before the popup requested anything. Speculation rules take effect after mutation observers were notified of their script element.
 */
export const LEAVE_OUT_SPECULATION_RULES: string = `new MutationObserver((records) => {
  for (const { addedNodes } of records) for (const node of addedNodes) {
    const scripts = node.localName === 'script' ? [node] : (node.querySelectorAll?.('script') ?? [])
    for (const script of scripts) if (script.type?.trim().toLowerCase() === 'speculationrules') script.remove()
  }
}).observe(document, { childList: true, subtree: true })`
