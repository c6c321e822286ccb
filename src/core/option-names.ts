import type { AccountOptions, LegacyBearerOptions } from '../accounts/account-options.js';
import type { TariffOptions } from '../billing/tariff.js';
import type { HttpOptions } from '../http/http-settings.js';
import type { MediaOptions } from '../media/media-options.js';
import type { ConnectLimits, MsgappTariff } from '../msgapp/msgapp-settings.js';
import type { Pacing, SessionTiming } from '../msgapp/msgapp-transport.js';
import type { OtpOptions } from '../otp/otp-options.js';
import type { DeliveryTiming } from '../outbox/delivery-result.js';
import type { DispatchOptions } from '../outbox/dispatch-options.js';
import type { OptOutWordsOption } from '../sms/opt-out/opt-out-words.js';
import type { SmsOptions } from '../sms/sms-options.js';
import type {
  CoreGraph,
  CoreValues,
  MsgappGraph,
  MsgappValues,
  SharedCore,
  SmsGraph,
  ValuesFactory,
} from './core-options.js';

/** What may be written under a name: anything (whoever resolves it looks closer), yes or no, or further names. */
type Rule =
  | 'any'
  | 'boolean'
  | { readonly names: OptionNames; readonly orBoolean?: boolean; readonly orList?: boolean };

/** The names that options may have. */
export type OptionNames = Readonly<Record<string, Rule>>;

/** Every name of an interface: an option that is added there has to be added here. */
type NamesOf<T> = Readonly<Record<keyof Required<T>, Rule>>;

const legacyBearer: NamesOf<LegacyBearerOptions> = { deprecatedAt: 'any', sunset: 'any', link: 'any' };
const accounts: NamesOf<AccountOptions> = { signatures: 'any', legacyBearer: { names: legacyBearer, orBoolean: true } };
const limits: NamesOf<NonNullable<HttpOptions['limits']>> = {
  bodyBytes: 'any',
  requestMs: 'any',
  inFlight: 'any',
};
const dispatch: NamesOf<DispatchOptions> = {
  enabled: 'boolean',
  batchSize: 'any',
  concurrency: 'any',
  pollMs: 'any',
  shutdownMs: 'any',
};
const tariff: NamesOf<TariffOptions> = {
  base: 'any',
  international: 'any',
  home: 'any',
  countries: 'any',
  prefixes: 'any',
};
const delivery: NamesOf<DeliveryTiming> = {
  leaseMs: 'any',
  maxAttempts: 'any',
  retryBaseMs: 'any',
  retryMaxMs: 'any',
  maxAwayMs: 'any',
  reportDeadlineMs: 'any',
};

const optOutWords: NamesOf<OptOutWordsOption> = { stop: 'any', start: 'any' };

const graph: NamesOf<CoreGraph> = {
  path: 'any',
  controllers: 'boolean',
  storage: 'any',
  userTokens: 'any',
  clock: 'any',
  ids: 'any',
  notifier: 'any',
  mediaFetcher: 'any',
};
const media: NamesOf<MediaOptions> = { allow: 'any' };
const values: NamesOf<CoreValues> = {
  ...accounts,
  limits: { names: limits },
  locale: 'any',
  dispatch: { names: dispatch },
  media: { names: media },
};
const factory: NamesOf<ValuesFactory<object>> = { imports: 'any', inject: 'any', useFactory: 'any' };
const sms: NamesOf<SmsOptions> = {
  tariff: { names: tariff },
  maxRecipients: 'any',
  maxSegments: 'any',
  strictNumbers: 'boolean',
  transliterate: 'any',
  delivery: { names: delivery },
  callbackBaseUrl: 'any',
  optOutWords: { names: optOutWords },
  inboundSignatures: 'any',
};
const otp: NamesOf<OtpOptions> = {
  pepper: 'any',
  length: 'any',
  validitySeconds: 'any',
  triesPerCode: 'any',
  limits: 'any',
  maxGuessChance: 'any',
  services: 'any',
};
const smsGraph: NamesOf<SmsGraph> = { transport: 'any' };
const msgappTariff: NamesOf<MsgappTariff> = { text: 'any', media: 'any' };
const pacing: NamesOf<Pacing> = { perMinute: 'any', jitter: 'any' };
const sessions: NamesOf<SessionTiming> = {
  leaseMs: 'any',
  scanMs: 'any',
  answerMs: 'any',
  steadyMs: 'any',
  staggerMs: 'any',
};
const connects: NamesOf<ConnectLimits> = { waiting: 'any', perHour: 'any' };
const msgapp: NamesOf<MsgappValues> = {
  tariff: { names: msgappTariff },
  credentialsKey: 'any',
  strictNumbers: 'boolean',
  pacing: { names: pacing },
  delivery: { names: delivery },
  sessions: { names: sessions },
  connects: { names: connects },
};
const msgappGraph: NamesOf<MsgappGraph> = { channel: 'any', transport: 'any' };
const sharedCore: NamesOf<SharedCore> = { core: 'any' };

/** The names of each set of options that a host may write, and of what its factories may give. */
export const OPTION_NAMES = {
  core: { ...graph, ...values },
  coreAsync: { ...graph, ...factory },
  coreValues: values,
  messaging: {
    ...graph,
    ...values,
    sms: { names: { ...smsGraph, ...sms } },
    otp: { names: otp },
    msgapp: { names: { ...msgappGraph, ...msgapp }, orList: true },
  },
  messagingAsync: {
    ...graph,
    ...factory,
    sms: { names: smsGraph },
    otp: 'boolean',
    msgapp: { names: msgappGraph, orList: true },
  },
  messagingValues: { ...values, sms: { names: sms }, otp: { names: otp }, msgapp: { names: msgapp, orList: true } },
  sms: { ...graph, ...values, ...smsGraph, ...sms },
  smsAsync: { ...graph, ...factory, ...smsGraph },
  smsValues: { ...values, ...sms },
  smsOnCore: { ...sharedCore, ...smsGraph, ...sms },
  smsOnCoreAsync: { ...sharedCore, ...smsGraph, ...factory },
  smsOnCoreValues: sms,
  otp: { ...graph, ...values, sms: { names: { ...smsGraph, ...sms } }, otp: { names: otp } },
  otpAsync: { ...graph, ...factory, sms: { names: smsGraph } },
  otpValues: { ...values, sms: { names: sms }, otp: { names: otp } },
  otpOnCore: { ...sharedCore, otp: { names: otp } },
  otpOnCoreAsync: { ...sharedCore, ...factory },
  otpOnCoreValues: { otp: { names: otp } },
  msgapp: { ...graph, ...values, ...msgappGraph, ...msgapp },
  msgappAsync: { ...graph, ...factory, ...msgappGraph },
  msgappValues: { ...values, ...msgapp },
  msgappOnCore: { ...sharedCore, ...msgappGraph, ...msgapp },
  msgappOnCoreAsync: { ...sharedCore, ...msgappGraph, ...factory },
  msgappOnCoreValues: msgapp,
} satisfies Record<string, OptionNames>;

/** Names that a factory's values come too late for: the module graph stands by then. */
export const TOO_LATE: ReadonlySet<string> = new Set(
  [graph, smsGraph, msgappGraph].flatMap((names) => Object.keys(names)),
);
