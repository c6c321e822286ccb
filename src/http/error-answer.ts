import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import { CHALLENGE } from '../accounts/challenge.js';
import { type Catalogue, renderText } from '../common/catalogue.js';
import { MessagingError } from '../common/errors.js';
import { errorStatus } from './error-status.js';

/** The contract's error body: exactly these three keys, `message` always one string. */
export interface ErrorBody {
  readonly statusCode: number;
  readonly message: string;
  /** The HTTP status name, for instance `Bad Request`. */
  readonly error: string;
}

/** What a client gets for an error. */
export interface ErrorAnswer {
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What a client gets for whatever was thrown: the catalogue's text for a refusal of ours, the given text for an
 * HttpException (a host's guard, Nest itself), a neutral text for what the platform refuses and for everything else.
 */
export function errorAnswer(error: unknown, catalogue: Catalogue): ErrorAnswer {
  if (error instanceof MessagingError) {
    const status = errorStatus[error.code];
    const headers: Record<string, string> = {};
    if (error.retryAfter !== undefined) headers['Retry-After'] = String(error.retryAfter);
    if (status === 401) headers['WWW-Authenticate'] = CHALLENGE;
    return answer(status, renderText(catalogue, error.code, error.values), headers);
  }
  if (error instanceof HttpException) return answer(error.getStatus(), textOf(error));
  const status = clientErrorStatus(error);
  if (status === 413) return answer(413, catalogue['error.body_too_large']);
  if (status === 415) return answer(415, catalogue['error.unsupported_media_type']);
  if (status !== undefined) return answer(status, catalogue['error.request_invalid']);
  return answer(500, catalogue['error.internal']);
}

function answer(statusCode: number, message: string, headers: Readonly<Record<string, string>> = {}): ErrorAnswer {
  return { body: { statusCode, message, error: statusName(statusCode) }, headers };
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

/** The status of a 4xx that the platform itself raised on our route (Fastify's errors, `http-errors` on Express). */
function clientErrorStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  const { statusCode } = error;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? statusCode : undefined;
}
