import { HttpException, type Logger } from '@nestjs/common';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';

/** A run of digits this long may be a phone number (or a code with its number): it stays out of the log. */
const LONG_DIGITS = /\d{7,}/g;

/**
 * Logs what an operator must know of an error that was answered: the reason of a 503, the cause of a 500. Refusals are
 * everyday and stay silent. Only messages and stacks are written, never an error's other properties (a driver puts the
 * parameters of its query there), and long numbers are blanked.
 */
export function logFault(logger: Logger, error: unknown): void {
  if (error instanceof StorageUnavailableError) {
    logger.error(blank(`${error.reason}${causeOf(error)}`));
    return;
  }
  if (error instanceof MessagingError ? error.code !== 'error.internal' : isAnswered(error)) return;
  logger.error(blank(`${describe(error)}${causeOf(error)}`));
}

/** Whether the error carries its own answer and says nothing of a fault here. */
function isAnswered(error: unknown): boolean {
  if (error instanceof HttpException) return error.getStatus() < 500;
  return error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500;
}

function causeOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? `\nCaused by: ${describe(error.cause)}` : '';
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : `A ${typeof error} was thrown`;
}

function blank(text: string): string {
  return text.replace(LONG_DIGITS, '#######');
}
