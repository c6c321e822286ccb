/** An object while its fields are being set. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };
