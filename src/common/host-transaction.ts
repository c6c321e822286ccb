/** A transaction of the host's that an operation is to be part of; a TypeORM storage wants its `EntityManager`. */
export interface HostTransaction {
  readonly manager: unknown;
}
