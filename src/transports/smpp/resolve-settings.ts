import {
  any,
  boolean,
  group,
  integer,
  isRecord,
  number,
  Option,
  OptionPlace,
  type OptionsOf,
  optionalGroup,
  text,
  unread,
} from '../../common/options.js';
import { country } from '../../common/phone-numbers/country-option.js';
import { callingCodeOf, isCountryCode } from '../../common/phone-numbers/phone-number.js';
import { HOUR_MS, MINUTE_MS } from '../../common/time.js';
import { MESSAGE_ID_FORMATS } from '../../sms/receipts/message-ids.js';
import { SMPP_BIND_DEFAULTS, type SmppBindSettings, type SmppTlsSettings } from './bind/bind-settings.js';
import { type SmppStatusClass, STATUS_CLASSES } from './command-status.js';
import { RECEIPT_STATUSES, ReceiptStates } from './incoming/receipt-states.js';
import type { AddressOptions, NumberingOptions, SmppLinkOptions, SmppOptions } from './smpp-options.js';
import type { SmppLinkSettings, SmppSettings } from './smpp-settings.js';

const name = text(/^[a-z0-9_-]{1,32}$/, '1 to 32 characters of a-z 0-9 _ -');

const SMPP = group({
  name: name.or('smpp'),
  links: any((given, place): readonly unknown[] =>
    Array.isArray(given) && given.length > 0 ? given : place.refuse('must be a list of at least one link'),
  ),
  resendUnknown: boolean.or(false),
} satisfies OptionsOf<SmppOptions>);

/** Error messages do not quote texts, which may be secrets. */
const PLACE = new OptionPlace('smpp', undefined, (value) =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : `a ${typeof value}`,
);

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveSmppSettings(options: SmppOptions): SmppSettings {
  const { name, links: given, resendUnknown } = SMPP.read(options, PLACE);
  const place = PLACE.in('links');
  const links = given.map((link, index) => linkSettings(link, index, name, place.in(`[${index}]`)));
  const names = links.map((link) => link.name);
  const twice = names.find((each, index) => names.indexOf(each) < index);
  if (twice !== undefined) place.refuse(`has two links named ${twice}`);
  if (links.every(({ bind }) => bind.bindAs === 'receiver')) {
    place.refuse('has only receivers, so no SMS could be sent');
  }
  return { name, resendUnknown, links };
}

function oneOf<const T extends string>(...choices: readonly T[]): Option<T> {
  return any((given, place) => {
    const chosen = choices.find((each) => each === given);
    return chosen ?? place.refuse(`must be one of ${choices.join(', ')}; got ${place.format(given)}`);
  });
}

const TLS = group(
  {
    servername: unread,
    ca: unread,
    cert: unread,
    key: unread,
    rejectUnauthorized: boolean.or(undefined),
  } satisfies OptionsOf<SmppTlsSettings>,
  () => 'must be true, false or an object',
);

/** Undefined: plain TCP. */
const tls = any((given, place): SmppTlsSettings | undefined => {
  if (typeof given === 'boolean') return given ? {} : undefined;
  const own = TLS.read(given, place) as SmppTlsSettings;
  if ((own.cert === undefined) !== (own.key === undefined)) place.in('cert').refuse('and key go together');
  return own;
});

function numbering(ton: number, npi: number) {
  const octet = integer(0, 255);
  return optionalGroup({ ton: octet.or(ton), npi: octet.or(npi) } satisfies OptionsOf<NumberingOptions>);
}

const shortCodes = any((given, place): ReadonlySet<string> => {
  const fit = Array.isArray(given) && given.every((each) => typeof each === 'string' && /^\d{3,15}$/.test(each));
  return fit ? new Set(given) : place.refuse('must be a list of strings of 3 to 15 digits');
});

const addresses = optionalGroup({
  alphanumeric: numbering(5, 0),
  international: numbering(1, 1),
  shortCode: numbering(3, 0),
  destination: numbering(1, 1),
  national: numbering(2, 1),
  shortCodes: shortCodes.or(new Set<string>()),
} satisfies OptionsOf<AddressOptions>);

const receiptStatus = oneOf(...RECEIPT_STATUSES);

const receiptStates = any((given, place) => {
  if (!isRecord(given)) return place.refuse('must be an object');
  const entries = Object.entries(given).filter(([, status]) => status !== undefined);
  return new ReceiptStates(
    Object.fromEntries(
      entries.map(([state, status]) => {
        if (!/^[!-~]{1,40}$/.test(state))
          return place.refuse('must have states of 1 to 40 visible characters as its keys');
        return [state, receiptStatus.read(status, place.in(state))];
      }),
    ),
  );
});

const MAX_STATUS = 0xffff_ffff;

const statusClass = oneOf(...STATUS_CLASSES);

/** The keys of an object are texts in decimal: `{ 0x400: 'later' }` has the key `'1024'`. */
const statuses = any((given, place) => {
  if (!isRecord(given)) return place.refuse('must be an object');
  const entries = Object.entries(given).filter(([, about]) => about !== undefined);
  return new Map(
    entries.map(([key, about]) => {
      const status = Number(key);
      const isStatus = /^\d+$/.test(key) && status >= 1 && status <= MAX_STATUS;
      if (!isStatus) return place.refuse('must have numbers from 1 to 0xFFFFFFFF as its keys');
      return [status, statusClass.read(about, place.in(`0x${status.toString(16)}`))];
    }),
  );
});

const { bindAs, systemType, window, responseTimeoutMs, bindTimeoutMs, idleMs } = SMPP_BIND_DEFAULTS;

const LINK = group({
  name: name.or(undefined),
  route: name.or(undefined),
  host: text(/^\S{1,255}$/, 'a host name or an address'),
  port: integer(1, 65_535).or(undefined),
  systemId: unread,
  longSystemId: boolean.or(false),
  password: unread,
  longPassword: boolean.or(false),
  systemType: text(/^[ -~]{0,12}$/, 'at most 12 ASCII characters').or(systemType),
  serviceType: text(/^[ -~]{0,5}$/, 'at most 5 ASCII characters').or(''),
  tls: tls.or(undefined),
  bindAs: oneOf('transceiver', 'transmitter', 'receiver').or(bindAs),
  window: integer(1, 1000).or(window),
  partsPerSecond: number(0.1, 100_000).or(undefined),
  responseTimeoutMs: integer(100, 10 * MINUTE_MS).or(responseTimeoutMs),
  bindTimeoutMs: integer(100, 10 * MINUTE_MS).or(bindTimeoutMs),
  enquireLinkMs: integer(100, HOUR_MS).or(idleMs),
  reconnectMs: integer(1, 10 * MINUTE_MS).or(1000),
  reconnectMaxMs: integer(1, HOUR_MS).or(undefined),
  throttlePauseMs: integer(1, MINUTE_MS).or(100),
  statuses: statuses.or(new Map<number, SmppStatusClass>()),
  longMessages: oneOf('udh8', 'udh16', 'sar', 'payload').or('udh8'),
  defaultAlphabet: oneOf('gsm', 'latin1', 'ascii').or('gsm'),
  dataCoding: integer(0, 255).or(0),
  addresses,
  destinations: oneOf('international', 'national').or('international'),
  validity: boolean.or(true),
  messageIds: oneOf(...MESSAGE_ID_FORMATS).or('same'),
  receiptOffsetMinutes: integer(-840, 840).or(undefined),
  unmarkedReceipts: boolean.or(false),
  receiptStates: receiptStates.or(new ReceiptStates()),
  receipts: oneOf('per-part', 'per-message').or('per-part'),
  home: country.or(undefined),
} satisfies OptionsOf<SmppLinkOptions>);

const systemId = text(/^[!-~]{1,15}$/, '1 to 15 visible ASCII characters, or 64 with longSystemId: true');
const longSystemId = text(/^[!-~]{1,64}$/, '1 to 64 visible ASCII characters');
const password = text(/^[!-~]{0,8}$/, 'at most 8 visible ASCII characters, or 64 with longPassword: true');
const longPassword = text(/^[!-~]{0,64}$/, 'at most 64 visible ASCII characters');

/** @param transport the transport's name, from which the link's default name is made */
function linkSettings(given: unknown, index: number, transport: string, place: OptionPlace): SmppLinkSettings {
  const link = LINK.read(given, place);
  const { route = transport, tls, window, defaultAlphabet } = link;
  const firstMs = link.reconnectMs;
  const maxMs = link.reconnectMaxMs ?? Math.max(MINUTE_MS, firstMs);
  if (maxMs < firstMs) place.in('reconnectMaxMs').refuse('must not be under reconnectMs');
  const { home, destinations } = link;
  if (destinations === 'national' && home === undefined) place.in('destinations').refuse('requires home');
  const isNational = destinations === 'national' && home !== undefined && isCountryCode(home);
  const nationalAfter = isNational ? callingCodeOf(home) : undefined;
  const bind: SmppBindSettings = {
    ...SMPP_BIND_DEFAULTS,
    host: link.host,
    port: link.port ?? (tls ? 3550 : 2775),
    ...(tls ? { tls } : {}),
    bindAs: link.bindAs,
    systemId: (link.longSystemId ? longSystemId : systemId).read(link.systemId, place.in('systemId')),
    password: (link.longPassword ? longPassword : password).read(link.password, place.in('password')),
    systemType: link.systemType,
    window,
    responseTimeoutMs: link.responseTimeoutMs,
    bindTimeoutMs: link.bindTimeoutMs,
    idleMs: link.enquireLinkMs,
  };
  return {
    name: link.name ?? (index === 0 ? transport : `${transport}-${index + 1}`),
    route,
    bind,
    reconnect: { firstMs, maxMs },
    rate: { window, partsPerSecond: link.partsPerSecond, throttlePauseMs: link.throttlePauseMs },
    statuses: link.statuses,
    format: {
      longMessages: link.longMessages,
      defaultAlphabet,
      dataCoding: link.dataCoding,
      serviceType: link.serviceType,
      validity: link.validity,
      addresses: { ...link.addresses, nationalAfter },
    },
    incoming: {
      route,
      messageIds: link.messageIds,
      defaultAlphabet,
      receiptOffsetMinutes: link.receiptOffsetMinutes,
      unmarkedReceipts: link.unmarkedReceipts,
      states: link.receiptStates,
      wholeReceipts: link.receipts === 'per-message',
      home,
    },
  };
}
