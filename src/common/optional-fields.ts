/** Like `Partial`, but an undefined property counts as missing. */
export type OptionalFields<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Removes undefined properties, so that in a spread they do not replace defined ones. */
export function withoutUndefined<T extends object>(values: OptionalFields<T>): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}
