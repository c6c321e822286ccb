import { STATUS_CODES } from 'node:http';
import { expect } from '@jest/globals';

const STACK = /\n\s*at |node_modules|file:\/\/|\.[jt]s:\d/;

/** The body of an answer in JSON: a 200, or one of these refusals in exactly our shape. */
export function expectOurShape(
  {
    status,
    contentType,
    text,
  }: { readonly status: number; readonly contentType: string | null; readonly text: string },
  refusals: readonly number[],
): Record<string, unknown> {
  expect(contentType).toMatch(/^application\/json\b/);
  const body: Record<string, unknown> = JSON.parse(text);
  if (status === 200) return body;
  expect(refusals).toContain(status);
  expect(body).toEqual({ statusCode: status, message: expect.any(String), error: STATUS_CODES[status] });
  expect(body.message).not.toBe('');
  expect(text).not.toMatch(STACK);
  return body;
}
