/** An open transaction of the host. The operation becomes part of it. */
export interface HostTransaction {
  /** For a TypeORM storage, the `EntityManager` of the transaction. */
  readonly manager: unknown;
}
