/** Calls a factory of the host with what Nest has injected for it; of which types only the host knows. */
export function invokeFactory<V>(useFactory: (...injected: never[]) => V, injected: readonly unknown[]): V {
  return Reflect.apply(useFactory, undefined, injected as never[]);
}
