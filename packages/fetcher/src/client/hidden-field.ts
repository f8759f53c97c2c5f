/** Its constructor returns the given object, to which the class below then adds its private field. */
class Given {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: see above
    return object
  }
}

/**
 * Returns a private field for objects of other code. It has the effect of a WeakMap: no other code sees
 * it, and it ends with the object. A WeakMap with many short-lived keys is slow, and V8 keeps its values
 * until the next full collection.
 */
export function hiddenField<T>(): { get(value: unknown): T | undefined; set(object: object, known: T): void } {
  /** An engine may refuse to add a field to a frozen object. */
  const ofFrozen = new WeakMap<object, T>()
  return class Field extends Given {
    #known: T | undefined

    static get(value: unknown): T | undefined {
      const object = Object(value) as Field
      return #known in object ? object.#known : ofFrozen.get(object)
    }

    static set(object: object, known: T): void {
      if (#known in object) object.#known = known
      else if (Object.isExtensible(object)) new Field(object).#known = known
      else ofFrozen.set(object, known)
    }
  }
}
