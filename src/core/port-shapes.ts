import type { Abstract } from '@nestjs/common';
import { UserTokenVerifier } from '../accounts/user-token-verifier.js';
import { Clock } from '../common/clock.js';
import { IdGenerator } from '../common/ids.js';
import { shown } from '../common/shown.js';
import { MediaFetcher } from '../media/media-fetcher.js';
import { MsgappTransport } from '../msgapp/msgapp-transport.js';
import { REPEAT_POLICIES } from '../outbox/hand-off.js';
import { WakeUp } from '../outbox/wake-up.js';
import { SmsTransport } from '../sms/sms-transport.js';
import { MessagingStorage } from '../storage/messaging-storage.js';

/** What is wrong with a member of a port, as the end of a sentence; undefined: nothing. */
type Check = (port: object, name: string) => string | undefined;

const method: Check = (port, name) =>
  typeof Reflect.get(port, name) === 'function' ? undefined : `it has no method ${name}`;
/** It is there, which is asked without a look at it: a storage that has not started shows no store. */
const member: Check = (port, name) => (name in port ? undefined : `it has no ${name}`);
const text: Check = (port, name) => {
  const value: unknown = Reflect.get(port, name);
  return typeof value === 'string' && value !== '' ? undefined : `its ${name} must be a text`;
};
const repeat: Check = (port, name) => {
  const value: unknown = Reflect.get(port, name);
  if (REPEAT_POLICIES.some((policy) => policy === value)) return undefined;
  return `its ${name} must be "idempotent", "at-least-once" or "at-most-once"; got ${shown(value)}`;
};
const objectIfAny: Check = (port, name) => {
  const value: unknown = Reflect.get(port, name) ?? {};
  return typeof value === 'object' ? undefined : `its ${name} must be an object`;
};
const mapIfAny: Check = (port, name) => {
  const value: unknown = Reflect.get(port, name) ?? new Map();
  return value instanceof Map ? undefined : `its ${name} must be a Map`;
};

interface Shape {
  readonly port: Abstract<object>;
  readonly members: Readonly<Record<string, Check>>;
}

/** Every member of a port: one that is added there has to be added here. */
function shape<T extends object>(port: Abstract<T>, members: Readonly<Record<keyof T & string, Check>>): Shape {
  return { port, members };
}

const SHAPES: readonly Shape[] = [
  shape(MessagingStorage, {
    ...{ outbox: member, ledger: member, accounts: member, phones: member, guards: member, parts: member },
    ...{ sessions: member, media: member, optOuts: member, start: method, stop: method },
  }),
  shape(SmsTransport, {
    ...{ name: text, repeat, timing: objectIfAny, callbacks: mapIfAny, start: method, submit: method, stop: method },
  }),
  shape(MsgappTransport, {
    ...{ name: text, repeat, timing: objectIfAny, pacing: objectIfAny, sessions: objectIfAny },
    ...{ start: method, open: method, stop: method },
  }),
  shape(UserTokenVerifier, { verify: method }),
  shape(MediaFetcher, { fetch: method }),
  shape(Clock, { now: method, after: method, elapsed: method }),
  shape(IdGenerator, { next: method, bytes: method, random: method }),
  shape(WakeUp, { ring: method, listen: method }),
];

/** What is wrong with what a host gives for a port, as the end of a sentence; undefined: nothing. */
export function portFault(token: Abstract<object>, port: unknown): string | undefined {
  if (typeof port !== 'object' || port === null) return `got ${typeof port === 'string' ? 'a string' : shown(port)}`;
  const own = shapeOf(token);
  const other = otherPort(own, port);
  if (other !== undefined) return `${port.constructor.name} ${other}`;
  for (const [name, check] of Object.entries(own?.members ?? {})) {
    const fault = check(port, name);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The same of a class before it is made: what another port wants injected may be what this one is wanted for. */
export function classFault(token: Abstract<object>, source: Abstract<object>): string | undefined {
  const other = otherPort(shapeOf(token), source.prototype);
  return other === undefined ? undefined : `${source.name} ${other}`;
}

/** The port's name with its article. */
export function portName(token: Abstract<object>): string {
  const { name } = shapeOf(token)?.port ?? token;
  return `${name.startsWith('I') ? 'an' : 'a'} ${name}`;
}

function otherPort(own: Shape | undefined, port: object): string | undefined {
  const is = SHAPES.find((each) => port instanceof each.port);
  return is === undefined || is === own ? undefined : `is a ${is.port.name}`;
}

/** Of the port, or of one that a token stands for: each route has a token of its own. */
function shapeOf(token: Abstract<object>): Shape | undefined {
  return SHAPES.find(({ port }) => token === port || token.prototype instanceof port);
}
