import { MessagingOptionsError } from '../../common/errors.js';
import { withoutUndefined } from '../../common/options.js';
import type { AddressFormat, PartFormat } from './parts/part-format.js';
import { SMPP_SESSION_DEFAULTS, type SmppSessionSettings, type SmppTlsSettings } from './session/session-settings.js';
import type { AddressOptions, NumberingOptions, SmppLinkOptions, SmppOptions } from './smpp-options.js';
import type { SmppLinkSettings, SmppSettings } from './smpp-settings.js';

const NAME = /^[a-z0-9_-]{1,32}$/;

const NAMES: Readonly<Record<keyof Required<SmppOptions>, true>> = { name: true, links: true, resendUnknown: true };

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveSmppSettings(options: SmppOptions): SmppSettings {
  const reader = new OptionReader(options, 'smpp', NAMES);
  const name = reader.text('name', NAME, '1 to 32 characters of a-z 0-9 _ -', 'smpp');
  if (!Array.isArray(options.links) || options.links.length === 0) {
    reader.refuse('links', 'must be a list of at least one link');
  }
  const links = options.links.map((link, index) =>
    resolveLinkSettings(link, `smpp.links[${index}]`, name, index === 0 ? name : `${name}-${index + 1}`),
  );
  const names = links.map((link) => link.name);
  const twice = names.find((each, index) => names.indexOf(each) < index);
  if (twice !== undefined) reader.refuse('links', `has two links named ${twice}`);
  if (links.every(({ session }) => session.bindAs === 'receiver')) {
    reader.refuse('links', 'has receivers only: nothing could be sent');
  }
  return { name, resendUnknown: reader.boolean('resendUnknown', false), links };
}

/** Every name of an interface: an option that is added there has to be added here. */
type NamesOf<T> = Readonly<Record<keyof Required<T>, true>>;

const LINK: NamesOf<SmppLinkOptions> = {
  name: true,
  route: true,
  host: true,
  port: true,
  systemId: true,
  password: true,
  longPassword: true,
  systemType: true,
  serviceType: true,
  tls: true,
  bindAs: true,
  window: true,
  partsPerSecond: true,
  responseTimeoutMs: true,
  bindTimeoutMs: true,
  enquireLinkMs: true,
  reconnectMs: true,
  reconnectMaxMs: true,
  throttlePauseMs: true,
  longMessages: true,
  defaultAlphabet: true,
  dataCoding: true,
  addresses: true,
  messageIds: true,
  receiptOffsetMinutes: true,
  unmarkedReceipts: true,
};
const TLS: NamesOf<SmppTlsSettings> = {
  servername: true,
  ca: true,
  cert: true,
  key: true,
  rejectUnauthorized: true,
};
const ADDRESSES: NamesOf<AddressOptions> = {
  alphanumeric: true,
  international: true,
  shortCode: true,
  destination: true,
  shortCodes: true,
};
const NUMBERING: NamesOf<NumberingOptions> = {
  ton: true,
  npi: true,
};

const LINK_NAME = /^[a-z0-9_-]{1,32}$/;
const LINK_NAME_WORDS = '1 to 32 characters of a-z 0-9 _ -';
const DIGITS = /^\d{3,15}$/;

/**
 * @param path where the link stands in the options
 * @param route the default for `route`
 * @param name the default for `name`
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
function resolveLinkSettings(link: SmppLinkOptions, path: string, route: string, name: string): SmppLinkSettings {
  const reader = new OptionReader(link, path, LINK);
  const session = sessionSettings(reader, path, link);
  const format = partFormat(reader, path, link);
  const ownRoute = reader.text('route', LINK_NAME, LINK_NAME_WORDS, route);
  const firstMs = reader.integer('reconnectMs', 1, 600_000, 1000);
  const longestMs = reader.integer('reconnectMaxMs', 1, 3_600_000, Math.max(60_000, firstMs));
  if (longestMs < firstMs) reader.refuse('reconnectMaxMs', 'must not be under reconnectMs');
  return {
    name: reader.text('name', LINK_NAME, LINK_NAME_WORDS, name),
    route: ownRoute,
    session,
    reconnect: { firstMs, longestMs },
    pace: {
      window: session.window,
      partsPerSecond: reader.number('partsPerSecond', 0.1, 100_000, undefined),
      throttlePauseMs: reader.integer('throttlePauseMs', 1, 60_000, 100),
    },
    format,
    incoming: {
      route: ownRoute,
      messageIds: reader.oneOf('messageIds', ['same', 'hex-then-decimal', 'decimal-then-hex'], 'same'),
      defaultAlphabet: format.defaultAlphabet,
      receiptOffsetMinutes: reader.integer('receiptOffsetMinutes', -840, 840, undefined),
      unmarkedReceipts: reader.boolean('unmarkedReceipts', false),
    },
  };
}

function sessionSettings(reader: OptionReader, path: string, link: SmppLinkOptions): SmppSessionSettings {
  const tls = tlsSettings(reader, path, link.tls ?? false);
  return {
    ...SMPP_SESSION_DEFAULTS,
    host: reader.text('host', /^\S{1,255}$/, 'a host name or an address'),
    port: reader.integer('port', 1, 65_535, tls ? 3550 : 2775),
    ...(tls ? { tls } : {}),
    bindAs: reader.oneOf('bindAs', ['transceiver', 'transmitter', 'receiver'], SMPP_SESSION_DEFAULTS.bindAs),
    systemId: reader.text('systemId', /^[!-~]{1,15}$/, '1 to 15 visible ASCII characters'),
    password: reader.boolean('longPassword', false)
      ? reader.text('password', /^[!-~]{0,64}$/, 'at most 64 visible ASCII characters')
      : reader.text('password', /^[!-~]{0,8}$/, 'at most 8 visible ASCII characters, or 64 with longPassword: true'),
    systemType: reader.text('systemType', /^[ -~]{0,12}$/, 'at most 12 ASCII characters', ''),
    window: reader.integer('window', 1, 1000, SMPP_SESSION_DEFAULTS.window),
    responseTimeoutMs: reader.integer('responseTimeoutMs', 100, 600_000, SMPP_SESSION_DEFAULTS.responseTimeoutMs),
    bindTimeoutMs: reader.integer('bindTimeoutMs', 100, 600_000, SMPP_SESSION_DEFAULTS.bindTimeoutMs),
    idleMs: reader.integer('enquireLinkMs', 100, 3_600_000, SMPP_SESSION_DEFAULTS.idleMs),
  };
}

function tlsSettings(reader: OptionReader, path: string, tls: boolean | SmppTlsSettings): SmppTlsSettings | undefined {
  if (typeof tls === 'boolean') return tls ? {} : undefined;
  if (typeof tls !== 'object' || tls === null) reader.refuse('tls', 'must be true, false or an object');
  const own = new OptionReader(tls, `${path}.tls`, TLS);
  own.boolean('rejectUnauthorized', true);
  if ((tls.cert === undefined) !== (tls.key === undefined)) own.refuse('cert', 'and key go together');
  return withoutUndefined(tls);
}

function partFormat(reader: OptionReader, path: string, link: SmppLinkOptions): PartFormat {
  return {
    longMessages: reader.oneOf('longMessages', ['udh8', 'udh16', 'sar', 'payload'], 'udh8'),
    defaultAlphabet: reader.oneOf('defaultAlphabet', ['gsm', 'latin1', 'ascii'], 'gsm'),
    dataCoding: reader.integer('dataCoding', 0, 255, 0),
    serviceType: reader.text('serviceType', /^[ -~]{0,5}$/, 'at most 5 ASCII characters', ''),
    addresses: addressFormat(`${path}.addresses`, link.addresses ?? {}),
  };
}

function addressFormat(path: string, options: AddressOptions): AddressFormat {
  const reader = new OptionReader(options, path, ADDRESSES);
  const numbering = (name: Exclude<keyof AddressOptions, 'shortCodes'>, ton: number, npi: number) => {
    const own = new OptionReader(options[name] ?? { ton, npi }, `${path}.${name}`, NUMBERING);
    return { ton: own.integer('ton', 0, 255, ton), npi: own.integer('npi', 0, 255, npi) };
  };
  const shortCodes = options.shortCodes ?? [];
  if (!Array.isArray(shortCodes) || !shortCodes.every((each) => typeof each === 'string' && DIGITS.test(each))) {
    reader.refuse('shortCodes', 'must be a list of strings of 3 to 15 digits');
  }
  return {
    alphanumeric: numbering('alphanumeric', 5, 0),
    international: numbering('international', 1, 1),
    shortCode: numbering('shortCode', 3, 0),
    destination: numbering('destination', 1, 1),
    shortCodes: new Set(shortCodes),
  };
}

/** Reads the options under one name and refuses what is wrong with a sentence that names it. Never shows a value that may be a secret. */
class OptionReader {
  private readonly given: Readonly<Record<string, unknown>>;

  /**
   * @param path where the options stand, `smpp.links[0]` for instance
   * @param names what may be written there; anything else is a misspelling
   * @throws MessagingOptionsError
   */
  constructor(
    options: object | undefined,
    private readonly path: string,
    names: Readonly<Record<string, true>>,
  ) {
    if (typeof options !== 'object' || options === null || Array.isArray(options)) {
      throw new MessagingOptionsError(`Option ${path} must be an object.`);
    }
    this.given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    const unknown = Object.keys(this.given).find((name) => !Object.hasOwn(names, name));
    if (unknown !== undefined) this.refuse(unknown, `is not known; there are ${Object.keys(names).join(', ')}`);
  }

  integer<D>(name: string, min: number, max: number, otherwise: D): number | D {
    const value = this.given[name];
    if (value === undefined) return otherwise;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    return this.refuse(name, `must be an integer from ${min} to ${max}; got ${shown(value)}`);
  }

  number<D>(name: string, min: number, max: number, otherwise: D): number | D {
    const value = this.given[name];
    if (value === undefined) return otherwise;
    if (typeof value === 'number' && value >= min && value <= max) return value;
    return this.refuse(name, `must be a number from ${min} to ${max}; got ${shown(value)}`);
  }

  boolean(name: string, otherwise: boolean): boolean {
    const value = this.given[name] ?? otherwise;
    return typeof value === 'boolean' ? value : this.refuse(name, 'must be true or false');
  }

  oneOf<T extends string>(name: string, choices: readonly T[], otherwise: T): T {
    const value = this.given[name] ?? otherwise;
    const choice = choices.find((each) => each === value);
    return choice ?? this.refuse(name, `must be one of ${choices.join(', ')}; got ${shown(value)}`);
  }

  /** @param what the pattern in words, for the sentence */
  text(name: string, pattern: RegExp, what: string, otherwise?: string): string {
    const value = this.given[name] ?? otherwise;
    return typeof value === 'string' && pattern.test(value) ? value : this.refuse(name, `must be ${what}`);
  }

  refuse(name: string, why: string): never {
    throw new MessagingOptionsError(`Option ${this.path}.${name} ${why}.`);
  }
}

function shown(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `a ${typeof value}`;
}
