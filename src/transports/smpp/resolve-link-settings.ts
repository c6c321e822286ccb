import { withoutUndefined } from '../../common/some-of.js';
import { OptionReader } from './option-reader.js';
import type { AddressFormat, PartFormat } from './parts/part-format.js';
import { SMPP_SESSION_DEFAULTS, type SmppSessionSettings, type SmppTlsSettings } from './session/session-settings.js';
import type { AddressOptions, NumberingOptions, SmppLinkOptions } from './smpp-options.js';
import type { SmppLinkSettings } from './smpp-settings.js';

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
export function resolveLinkSettings(
  link: SmppLinkOptions,
  path: string,
  route: string,
  name: string,
): SmppLinkSettings {
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
