import { STATUS_CODES } from 'node:http';
import { expect } from '@jest/globals';

const STACK = /\n\s*at |node_modules|file:\/\/|\.[jt]s:\d/;

/** The body of an answer in JSON: a 200, or one of these refusals exactly in our shape. */
export function expectOurShape(
  { status, headers, text }: { readonly status: number; readonly headers: Headers; readonly text: string },
  refusals: readonly number[],
): Record<string, unknown> {
  expect(headers.get('content-type')).toMatch(/^application\/json\b/);
  const body: Record<string, unknown> = JSON.parse(text);
  if (status === 200) return body;
  expect(refusals).toContain(status);
  expect(body).toEqual({ statusCode: status, message: expect.any(String), error: STATUS_CODES[status] });
  expect(headers.get('x-error-code')).toMatch(/^[a-z][a-z_]+$/);
  expect(body.message).not.toBe('');
  expect(text).not.toMatch(STACK);
  return body;
}
