// What our scripts in pages begin with. The page's scripts can replace each method of a prototype. So
// our scripts bind the methods that they need when they start, before the page's scripts run, and use
// no other method later.

/** Declares `bind`, `descriptorOf` and `getter`, and what several scripts bind with them. */
export const PAGE_METHODS = `
  const bind = (method) => Function.prototype.call.bind(method)
  const descriptorOf = ({ prototype }, name) => Object.getOwnPropertyDescriptor(prototype, name)
  const getter = (owner, name) => bind(descriptorOf(owner, name).get)
  const localNameOf = getter(Element, 'localName')
  const exec = bind(RegExp.prototype.exec)`
