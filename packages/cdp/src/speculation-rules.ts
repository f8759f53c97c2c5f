// Removes speculation rules from pages. With such rules a page makes the browser prefetch, or even
// prerender, pages that the user may visit next. No session of the DevTools protocol can stop these
// requests (measured with Chromium 156), so this script removes the rules before Chromium reads
// them. Chromium follows the rules of pages, but ignores the rules of frames (measured).
//
// Some rules stay:
// - rules in the first document of a popup;
// - rules in a closed declarative shadow root, to which no script has access;
// - rules in an open declarative shadow root that the parser attaches after the observer visited
//   its host: attaching makes no mutation record. The root is found with the next record of the
//   host or of a node in it, or when the document's `readyState` changes. Chromium may have read
//   the rules by then;
// - rules that a page inserts while mutation observers are notified of other rules, since Chromium
//   reads the rules before the next notification.
// Only a switch at launch stops the requests of all rules: see docs/browsers.md.

import { PAGE_METHODS } from './page-methods.ts'

/**
 * A script for each new document, to run before the document's own scripts. It does not run in the
 * first document of a popup: that document takes over the window of an empty document, and no
 * script starts again in it. This was measured, also with a script that the protocol knew before
 * the popup requested anything. Speculation rules take effect after mutation observers were
 * notified of their script element.
 */
export const LEAVE_OUT_SPECULATION_RULES: string = `(() => {${PAGE_METHODS}
  const targetOf = getter(MutationRecord, 'target')
  const addedNodesOf = getter(MutationRecord, 'addedNodes')
  const oldValueOf = getter(MutationRecord, 'oldValue')
  const lengthOf = getter(NodeList, 'length')
  const nodeTypeOf = getter(Node, 'nodeType')
  const parentOf = getter(Node, 'parentNode')
  const shadowRootOf = getter(Element, 'shadowRoot')
  const getAttributeNS = bind(Element.prototype.getAttributeNS)
  const remove = bind(Element.prototype.remove)
  const createTreeWalker = bind(Document.prototype.createTreeWalker)
  const nextNode = bind(TreeWalker.prototype.nextNode)
  const setCurrentNode = bind(descriptorOf(TreeWalker, 'currentNode').set)
  const observe = bind(MutationObserver.prototype.observe)
  const has = bind(WeakSet.prototype.has)
  const add = bind(WeakSet.prototype.add)
  const { apply } = Reflect
  const NodeSet = WeakSet

  const isRulesType = (type) => type !== null && exec(/^\\s*speculationrules\\s*$/i, type) !== null
  const isScript = (node) => node !== null && nodeTypeOf(node) === 1 && localNameOf(node) === 'script'
  const isRules = (node) => isScript(node) && isRulesType(getAttributeNS(node, null, 'type'))

  const watchedRoots = new NodeSet()
  const watch = (root) => {
    if (has(watchedRoots, root)) return
    add(watchedRoots, root)
    observe(observer, root, OPTIONS)
  }
  // Removes the rules below a node and in its shadow trees, and watches these trees. Pages can nest
  // thousands of trees. Recursion would overflow the stack, so a list has the trees that are still to
  // be visited. The list is linked: the page can define a setter for the elements of arrays.
  const visit = (node, seen) => {
    let trees = { node, next: null }
    while (trees !== null) {
      const { node } = trees
      trees = trees.next
      if (has(seen, node)) continue
      const walker = createTreeWalker(document, node, 1)
      let last = node
      for (let element = node; element !== null; element = nextNode(walker)) {
        add(seen, element)
        if (isRules(element)) {
          setCurrentNode(walker, last)
          remove(element)
          if (element === node) break
        } else {
          last = element
          const root = nodeTypeOf(element) === 1 ? shadowRootOf(element) : null
          if (root !== null) {
            watch(root)
            trees = { node: root, next: trees }
          }
        }
      }
    }
  }
  // The parser attaches a declarative shadow root without a mutation record. An ancestor that was
  // visited before may have one now.
  const visitNewRoots = (node, seen, climbed) => {
    for (let each = node; each !== null && !has(climbed, each); each = parentOf(each)) {
      add(climbed, each)
      const root = nodeTypeOf(each) === 1 ? shadowRootOf(each) : null
      if (root === null || has(watchedRoots, root)) continue
      watch(root)
      visit(root, seen)
    }
  }
  const observer = new MutationObserver((records) => {
    const seen = new NodeSet()
    const climbed = new NodeSet()
    for (let i = 0; i < records.length; i++) {
      const target = targetOf(records[i])
      const script = nodeTypeOf(target) === 1 ? target : parentOf(target)
      // Rules stay in effect when the script's type changes.
      if (isScript(script) && (isRules(script) || isRulesType(oldValueOf(records[i])))) remove(script)
      const nodes = addedNodesOf(records[i])
      for (let j = 0; j < lengthOf(nodes); j++) visit(nodes[j], seen)
      visitNewRoots(target, seen, climbed)
    }
  })
  // Reading an array would call its iterator, which the page can replace.
  const onlyType = { [Symbol.iterator]: () => { let i = 0; return { next: () => ({ done: i++ > 0, value: 'type' }) } } }
  const OPTIONS = { childList: true, subtree: true, characterData: true, attributeFilter: onlyType, attributeOldValue: true }
  const visitAll = () => visit(document, new NodeSet())
  watch(document)
  visitAll()
  addEventListener('readystatechange', visitAll, true)
  const { attachShadow } = Element.prototype
  Element.prototype.attachShadow = {
    attachShadow(init) {
      const root = apply(attachShadow, this, arguments)
      watch(root)
      return root
    },
  }.attachShadow
})()`
