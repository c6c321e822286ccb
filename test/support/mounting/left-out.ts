/** Every optional option of an interface, as undefined. If one is missing here, the type check fails. */
export type LeftOut<T> = {
  readonly [K in keyof T as Record<never, never> extends Pick<T, K> ? K : never]-?: undefined;
};

/** Options as a host writes them whose own settings are empty: named, and undefined. */
export function leftOut<T>(options: LeftOut<T>): LeftOut<T> {
  return options;
}
