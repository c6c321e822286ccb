type Method = (...args: readonly unknown[]) => unknown;

/**
 * An object that is of the same classes as another one and has all its methods called on that one, each through `wrap`.
 * Fields are read from it too.
 */
export function delegate<T extends object>(target: T, wrap: (name: string, method: Method) => Method): T {
  const properties = new Map<string, PropertyDescriptor>();
  for (let owner: object | null = target; owner && owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const [name, own] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      if (name === 'constructor' || properties.has(name)) continue;
      const isMethod = typeof own.value === 'function';
      // Looked up at each call: who replaces a method of the target later means this one too.
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
