import { isSignatureName } from '../accounts/signature-name.js';
import { MessagingOptionsError } from '../common/errors.js';
import { isRecord } from '../common/is-record.js';
import { shown } from '../common/shown.js';
import type { OtpServiceOptions } from './otp-options.js';

/** How codes of each service are sent, by its name. */
export type OtpServices = Readonly<Record<string, OtpServiceOptions>>;

const HOST = /^[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$/;
const RETRIEVER_HASH = /^[A-Za-z0-9+/]{11}$/;

/** Every name that a service's options may have. */
const NAMES: Readonly<Record<keyof OtpServiceOptions, true>> = {
  ...{ signature: true, template: true, webOtpHost: true, retrieverHash: true },
};

/** @throws MessagingOptionsError with a sentence that names the service */
export function checkedServices(services: OtpServices = {}): OtpServices {
  if (!isRecord(services)) {
    throw new MessagingOptionsError(
      `Option otp.services must be an object: options by the names of services; got ${shown(services)}.`,
    );
  }
  for (const [service, options] of Object.entries(services)) check(service, options);
  return services;
}

function check(service: string, options: unknown): void {
  const name = `otp.services[${JSON.stringify(service)}]`;
  const wrong = (sentence: string) => new MessagingOptionsError(`Option ${name}${sentence}`);
  if (!isRecord(options)) throw wrong(` must be an object; got ${shown(options)}.`);
  const unknown = Object.keys(options).find((option) => !Object.hasOwn(NAMES, option));
  if (unknown) throw wrong(`.${unknown} is not known; there are ${Object.keys(NAMES).join(', ')}.`);
  const { signature, template, webOtpHost, retrieverHash } = options;
  if (signature !== undefined && !isSignatureName(signature)) {
    throw wrong(
      `.signature can be no signature: 1 to 11 characters of A-Z a-z 0-9 space . _ & - with at least one letter, or 3 to 15 digits; got ${shown(signature)}.`,
    );
  }
  if (template !== undefined && typeof template !== 'string') {
    throw wrong(`.template must be a text; got ${shown(template)}.`);
  }
  if (template !== undefined && !template.includes('{code}')) throw wrong('.template must contain {code}.');
  if (webOtpHost !== undefined && retrieverHash !== undefined) {
    throw wrong(': only one of webOtpHost and retrieverHash can be the last line.');
  }
  if (webOtpHost !== undefined && !isText(webOtpHost, HOST)) {
    throw wrong('.webOtpHost must be a host name such as example.com.');
  }
  if (retrieverHash !== undefined && !isText(retrieverHash, RETRIEVER_HASH)) {
    throw wrong('.retrieverHash must be 11 characters of base64.');
  }
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}
