// Speculation rules are taken out of pages. With them a page has the browser fetch, or even show, where its reader may go next; Chromium
// does that past everything that could stop it (measured with 156: no session of the protocol sees these requests, and no switch ends
// them). It heeds those of pages, and not those of frames (measured).

/**
 * Runs in each document before its own scripts, but not in the first one of a popup: that takes over the window of an empty document, and no
 * script begins anew in it (measured, also with a script that the protocol knew of before the popup had asked for anything). The rules take
 * effect after observers were told of the element that holds them.
 */
export const LEAVE_OUT_SPECULATION_RULES: string = `new MutationObserver((records) => {
  for (const { addedNodes } of records) for (const node of addedNodes) {
    const scripts = node.localName === 'script' ? [node] : (node.querySelectorAll?.('script') ?? [])
    for (const script of scripts) if (script.type?.trim().toLowerCase() === 'speculationrules') script.remove()
  }
}).observe(document, { childList: true, subtree: true })`
