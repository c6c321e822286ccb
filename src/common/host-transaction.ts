/** An open transaction of the host, which an operation becomes part of. */
export interface HostTransaction {
  /** For a TypeORM storage the `EntityManager` of the transaction. */
  readonly manager: unknown;
}
