/** Some of these; what is undefined is left out. */
export type SomeOf<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** What is there, so that an option which is named but undefined does not hide what it would stand above. */
export function withoutUndefined<T extends object>(values: SomeOf<T>): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}
