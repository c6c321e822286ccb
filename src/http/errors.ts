import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import { CHALLENGE } from '../accounts/keys/authentication-headers.js';
import { type ErrorCode, MessagingError, StorageUnavailableError } from '../common/errors.js';
import { escapeControls, type FaultLog, faultCode, stackFrames } from '../common/log.js';
import { type Catalogue, renderText } from '../common/text/catalogue.js';

/** The error body of the API: exactly these three keys, `message` always one string. */
interface ErrorBody {
  readonly statusCode: number;
  readonly message: string;
  /** The HTTP status name, for instance `Bad Request`. */
  readonly error: string;
}

/** The answer to an error. */
export interface ErrorAnswer {
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The answer to any thrown value: the catalogue's text for a MessagingError, the exception's own text for an HttpException
 * (a host's guard, Nest itself), and a neutral text for errors of the platform and all others.
 */
export function errorAnswer(error: unknown, catalogue: Catalogue): ErrorAnswer {
  if (error instanceof MessagingError) {
    const headers: Record<string, string> = {};
    if (error.retryAfter !== undefined) headers['Retry-After'] = String(error.retryAfter);
    if (errorStatus[error.code] === 401) headers['WWW-Authenticate'] = CHALLENGE;
    const { earliest, last } = error.values;
    if (EVENTS_ELSEWHERE.has(error.code)) headers[EARLIEST_SEQUENCE] = String(earliest);
    if (error.code === 'error.events_ahead') headers[LAST_SEQUENCE] = String(last);
    return refusal(error.code, sentenceOf(error, catalogue), headers);
  }
  if (error instanceof HttpException) {
    const status = error.getStatus();
    return answer(
      status,
      statusName(status)
        .toLowerCase()
        .replaceAll(/[^a-z]+/g, '_'),
      textOf(error),
    );
  }
  const status = clientErrorStatus(error);
  if (status === 413) return refusal('error.body_too_large', catalogue['error.body_too_large']);
  if (status === 415) return refusal('error.unsupported_media_type', catalogue['error.unsupported_media_type']);
  if (status !== undefined)
    return answer(status, errorWord('error.request_invalid'), catalogue['error.request_invalid']);
  return refusal('error.internal', catalogue['error.internal']);
}

/** The text of an error. For an invalid number, it is followed by the number that was probably meant. */
function sentenceOf({ code, values }: MessagingError, catalogue: Catalogue): string {
  const text = renderText(catalogue, code, values);
  return values.meant === undefined ? text : `${text}. ${renderText(catalogue, 'hint.number_meant', values)}`;
}

function refusal(code: ErrorCode, message: string, headers?: Readonly<Record<string, string>>): ErrorAnswer {
  return answer(errorStatus[code], errorWord(code), message, headers);
}

function answer(
  statusCode: number,
  word: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ErrorAnswer {
  return {
    body: { statusCode, message, error: statusName(statusCode) },
    headers: { [ERROR_CODE]: word, ...headers },
  };
}

function statusName(status: number): string {
  return STATUS_CODES[status] ?? 'Error';
}

function textOf(exception: HttpException): string {
  const response = exception.getResponse();
  const text = typeof response === 'object' && 'message' in response ? response.message : response;
  if (Array.isArray(text)) return text.map(String).join(', ');
  return typeof text === 'string' ? text : exception.message;
}

/** The status of a 4xx error that the platform raised on our route (Fastify's errors, `http-errors` on Express). */
function clientErrorStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  const { statusCode } = error;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? statusCode : undefined;
}

/** The header with the first event that is kept. It is sent when a request asks for earlier events. */
export const EARLIEST_SEQUENCE = 'X-Earliest-Sequence';

/** The header with the last event of the log. It is sent when a request asks for later events. */
export const LAST_SEQUENCE = 'X-Last-Sequence';

const EVENTS_ELSEWHERE: ReadonlySet<ErrorCode> = new Set(['error.events_gone', 'error.events_ahead']);

/** The header with the word of an error. */
export const ERROR_CODE = 'X-Error-Code';

/**
 * The words of refusals that are not simply their code without `error.`. A word is part of the API, so it stays even if we
 * rename the code.
 */
const WORDS: Partial<Readonly<Record<ErrorCode, string>>> = {
  'error.use_x_api_key': 'unauthorized',
  'error.login_hook_refused': 'unauthorized',
  'error.numbers_not_strings': 'field_not_list',
  'error.recipients_not_list': 'field_not_list',
  'error.link_refused': 'unauthorized',
  'error.session_attempts': 'too_many_attempts',
  'error.session_ended': 'unauthorized',
  'error.otp_invalid': 'code_invalid',
  'error.otp_expired': 'code_expired',
  'error.otp_already_verified': 'code_already_verified',
  'error.otp_not_found': 'code_not_found',
  'error.otp_locked': 'too_many_attempts',
  'error.otp_too_many_codes': 'too_many_codes',
  'error.otp_destination_refused': 'destination_refused',
  'error.otp_channel_unknown': 'channel_unknown',
  'error.msgapp_no_session': 'no_session',
  'error.msgapp_not_connected': 'not_connected',
  'error.msgapp_reconnecting': 'number_reconnecting',
  'error.msgapp_too_many_sessions': 'too_many_sessions',
};

/** The word of a refusal for programs, in `X-Error-Code`: the same in every language. */
export function errorWord(code: ErrorCode): string {
  return WORDS[code] ?? code.slice('error.'.length);
}

/** The HTTP status of every refusal. A new code without a status does not compile. */
export const errorStatus: Readonly<Record<ErrorCode, number>> = {
  'error.unauthorized': 401,
  'error.use_x_api_key': 401,
  'error.body_not_object': 400,
  'error.malformed_json': 400,
  'error.unsupported_media_type': 415,
  'error.body_too_large': 413,
  // Used for errors of the platform. Their answers have the platform's status instead.
  'error.request_invalid': 400,
  'error.too_many_in_flight': 429,
  'error.timeout': 504,
  'error.internal': 500,
  'error.storage_unavailable': 503,
  'error.field_missing': 400,
  'error.field_not_string': 400,
  'error.field_not_integer': 400,
  'error.field_not_list': 400,
  'error.recipients_not_list': 400,
  'error.field_not_object': 400,
  'error.field_too_long': 400,
  'error.fields_exclusive': 400,
  'error.field_invalid': 400,
  'error.metadata_too_large': 400,
  'error.send_at_invalid': 400,
  'error.valid_for_invalid': 400,
  'error.window_invalid': 400,
  'error.window_empty': 400,
  'error.invalid_number': 400,
  'error.numbers_not_strings': 400,
  'error.too_many_recipients': 400,
  'error.empty_message': 400,
  'error.unsendable_character': 400,
  'error.too_many_segments': 400,
  'error.stray_brace': 400,
  'error.variable_missing': 400,
  'error.signature_refused': 400,
  'error.insufficient_balance': 400,
  'error.message_not_found': 404,
  'error.contact_not_found': 404,
  'error.contact_other_session': 409,
  'error.not_supported': 409,
  'error.already_sending': 409,
  'error.invalid_cursor': 400,
  'error.idempotency_key_malformed': 400,
  'error.idempotency_mismatch': 422,
  'error.idempotency_running': 409,
  'error.account_not_found': 404,
  'error.account_exists': 409,
  'error.key_not_found': 404,
  'error.signature_not_found': 404,
  'error.signature_format': 400,
  'error.units_invalid': 400,
  'error.balance_too_high': 400,
  'error.reference_taken': 409,
  'error.otp_invalid': 400,
  'error.otp_expired': 400,
  'error.otp_already_verified': 400,
  'error.otp_not_found': 404,
  'error.otp_locked': 429,
  'error.otp_too_many_codes': 429,
  'error.otp_destination_refused': 403,
  'error.otp_channel_unknown': 400,
  'error.callback_unreadable': 400,
  'error.callback_charset_unknown': 415,
  'error.callback_refused': 403,
  'error.callback_not_found': 404,
  'error.msgapp_no_session': 409,
  'error.msgapp_not_connected': 409,
  'error.msgapp_reconnecting': 409,
  'error.msgapp_too_many_sessions': 429,
  'error.credentials_refused': 400,
  'error.media_unavailable': 400,
  'error.session_not_found': 404,
  'error.qr_not_found': 404,
  'error.file_not_found': 404,
  'error.webhook_url_refused': 400,
  'error.too_many_endpoints': 409,
  'error.too_many_replays': 409,
  'error.login_hook_not_found': 404,
  'error.login_hook_refused': 401,
  'error.login_hook_unreadable': 400,
  'error.login_hook_disabled': 403,
  'error.login_hook_key_capped': 403,
  'error.too_many_login_hooks': 409,
  'error.endpoint_not_found': 404,
  'error.event_type_unknown': 400,
  'error.event_not_found': 404,
  'error.events_gone': 410,
  'error.events_ahead': 410,
  'error.too_many_event_readers': 429,
  'error.file_gone': 410,
  'error.user_required': 403,
  'error.role_missing': 403,
  'error.scope_missing': 403,
  'error.address_not_allowed': 403,
  'error.account_suspended': 403,
  'error.account_unnamed': 400,
  'error.key_rate': 429,
  'error.key_recipient': 403,
  'error.confirmation_needed': 403,
  'error.confirmation_unknown': 404,
  'error.key_cap': 429,
  'error.cross_site': 403,
  'error.link_refused': 401,
  'error.session_attempts': 429,
  'error.session_ended': 401,
  'error.signature_decided': 409,
  'error.template_not_found': 404,
  'error.template_exists': 409,
  'error.too_many_templates': 409,
  'error.optout_not_found': 404,
  'error.route_not_found': 404,
  'error.check_running': 409,
  'error.campaign_not_found': 404,
  'error.campaign_state': 409,
  'error.campaign_empty': 409,
  'error.campaign_importing': 409,
  'error.campaign_too_large': 400,
  'error.campaign_moved': 409,
  'error.csv_encoding': 400,
  'error.csv_malformed': 400,
  'error.csv_cut': 400,
  'error.csv_empty': 400,
  'error.csv_column_twice': 400,
  'error.csv_no_column': 400,
  'error.csv_short_row': 400,
  'error.sandbox_cross_site': 403,
  'error.sandbox_host_refused': 403,
};

/** Seven or more digits may be a phone number, or a code next to a number. They must not reach the log. */
const LONG_DIGITS = /\d{7,}/g;

/**
 * Logs the reason of a 503 and the cause of a 500; refusals are not logged. Only messages and stacks are written, because
 * drivers put query parameters into other properties of their errors. Long numbers are blanked.
 */
export function logFault(log: FaultLog, error: unknown, requestId?: string): void {
  const isUnavailable = error instanceof StorageUnavailableError;
  if (!isUnavailable && (error instanceof MessagingError ? error.code !== 'error.internal' : isAnswered(error))) return;
  const text = blank(`${isUnavailable ? error.reason : describe(error)}${causeOf(error)}`);
  const [sentence = ''] = text.split('\n', 1);
  log.error(sentence, { code: faultCode(error), requestId }, text.slice(sentence.length));
}

/** Whether the error has a status of its own below 500, and therefore reports no fault of ours. */
function isAnswered(error: unknown): boolean {
  if (error instanceof HttpException) return error.getStatus() < 500;
  return error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500;
}

function causeOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? `\nCaused by: ${describe(error.cause)}` : '';
}

/** The message of an error as one line, with its line breaks escaped, then the frames of its stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return `A ${typeof error} was thrown`;
  return `${error.name}: ${escapeControls(error.message)}${stackFrames(error, MAX_FRAMES)}`;
}

/** The number of frames that V8 keeps by default. */
const MAX_FRAMES = 10;

function blank(text: string): string {
  return text.replace(LONG_DIGITS, '#######');
}
