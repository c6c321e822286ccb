/** Every option of an interface that may be left out, as undefined. One that is missing here does not pass the type check. */
export type LeftOut<T> = {
  readonly [K in keyof T as Record<never, never> extends Pick<T, K> ? K : never]-?: undefined;
};

/** Options as a host writes them whose own settings say nothing: named, and undefined. */
export function leftOut<T>(options: LeftOut<T>): LeftOut<T> {
  return options;
}
