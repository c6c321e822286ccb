import { type Abstract, SetMetadata } from '@nestjs/common';
import { formatValue } from './options.js';

/** Checks a member of a port. Returns the fault as the end of a sentence; undefined if there is none. */
type MemberCheck = (port: object, name: string) => string | undefined;

/** The members of a port, in the order in which they are checked. */
interface PortDescription {
  readonly port: Abstract<object>;
  readonly members: Readonly<Record<string, MemberCheck>>;
}

const DESCRIPTION = 'nestjs-messaging:port';

/**
 * Marks an abstract class as a port that hosts implement. An object given for it is checked when the application starts.
 * @param members every member of the port; if one is missing here, the call does not compile
 */
export function describePort<T extends object>(
  port: Abstract<T>,
  members: Readonly<Record<keyof T & string, MemberCheck>>,
): void {
  const description: PortDescription = { port, members };
  SetMetadata(DESCRIPTION, description)(port);
}

/** Whether an injection token is a port, and not an implementation of one. */
export function isPort(token: unknown): token is Abstract<object> {
  return typeof token === 'function' && Reflect.hasOwnMetadata(DESCRIPTION, token);
}

/**
 * Checks an object that was given for a port. Returns the fault as the end of a sentence; undefined if there is none.
 */
export function portFault(token: Abstract<object>, port: unknown): string | undefined {
  if (typeof port !== 'object' || port === null)
    return `got ${typeof port === 'string' ? 'a string' : formatValue(port)}`;
  const other = classFault(token, port.constructor);
  if (other !== undefined) return other;
  for (const [name, check] of Object.entries(descriptionOf(token)?.members ?? {})) {
    const fault = check(port, name);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * Checks a class that was given for a port, before it is instantiated. It may be the implementation of another port,
 * for example.
 */
export function classFault(token: Abstract<object>, source: unknown): string | undefined {
  const other = typeof source === 'function' ? descriptionOf(source) : undefined;
  if (typeof source !== 'function' || other === undefined || other === descriptionOf(token)) return undefined;
  return `${source.name} is a ${other.port.name}`;
}

/** The name of a token's port, with its article. */
export function portName(token: Abstract<object>): string {
  const { name } = descriptionOf(token)?.port ?? token;
  return `${name.startsWith('I') ? 'an' : 'a'} ${name}`;
}

/** The description of the class itself or of the port that it extends, because Reflect follows the prototypes of classes. */
function descriptionOf(token: object): PortDescription | undefined {
  return Reflect.getMetadata(DESCRIPTION, token);
}

export const method: MemberCheck = (port, name) =>
  typeof Reflect.get(port, name) === 'function' ? undefined : `it has no method ${name}`;

/** Checks that an optional member is a method if it exists. */
export const methodIfAny: MemberCheck = (port, name) =>
  Reflect.get(port, name) === undefined ? undefined : method(port, name);

/**
 * Checks that a member exists without reading it, because a storage that has not started throws if its stores are read.
 */
export const member: MemberCheck = (port, name) => (name in port ? undefined : `it has no ${name}`);

export const nonEmptyText: MemberCheck = (port, name) => {
  const value: unknown = Reflect.get(port, name);
  return typeof value === 'string' && value !== '' ? undefined : `its ${name} must be a text`;
};

export function oneOf(...values: readonly string[]): MemberCheck {
  const quoted = values.map((value) => `"${value}"`);
  const names = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return (port, name) => {
    const value: unknown = Reflect.get(port, name);
    if (values.some((each) => each === value)) return undefined;
    return `its ${name} must be ${names}; got ${formatValue(value)}`;
  };
}

export const objectIfAny: MemberCheck = (port, name) => {
  const value: unknown = Reflect.get(port, name) ?? {};
  return typeof value === 'object' ? undefined : `its ${name} must be an object`;
};

export const mapIfAny: MemberCheck = (port, name) => {
  const value: unknown = Reflect.get(port, name) ?? new Map();
  return value instanceof Map ? undefined : `its ${name} must be a Map`;
};

export const booleanIfAny: MemberCheck = (port, name) =>
  ['boolean', 'undefined'].includes(typeof Reflect.get(port, name)) ? undefined : `its ${name} must be true or false`;
