type Method = (...args: readonly unknown[]) => unknown;

/**
 * Makes an object that replaces `target`. It has the same prototype, passes each method call to `target` through
 * `wrap`, and reads fields from `target`.
 */
export function delegate<T extends object>(target: T, wrap: (name: string, method: Method) => Method): T {
  const properties = new Map<string, PropertyDescriptor>();
  for (let owner: object | null = target; owner && owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const [name, own] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      if (name === 'constructor' || properties.has(name)) continue;
      const isMethod = typeof own.value === 'function';
      // The method is looked up at each call. So if somebody replaces a method of `target` later, calls use the new
      // one.
      const call: Method = (...args) => Reflect.apply(Object(target)[name], target, args);
      properties.set(
        name,
        isMethod
          ? { value: wrap(name, call), writable: true, configurable: true }
          : { get: () => Reflect.get(target, name), configurable: true },
      );
    }
  }
  return Object.create(Object.getPrototypeOf(target), Object.fromEntries(properties));
}
