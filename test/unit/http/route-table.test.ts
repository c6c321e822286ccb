import { describe, expect, test } from '@jest/globals';
import { type EdgeRoute, RoutePaths } from '../../../src/http/route-table.js';

const route = (method: string, path: string): EdgeRoute => ({
  method,
  path,
  authenticated: true,
  permission: undefined,
  intake: true,
  deadline: true,
  waits: false,
  whileClosing: false,
  rawBody: undefined,
  streamed: undefined,
});

const routes = [
  route('POST', '/api/v1/send/sms'),
  route('GET', '/api/v1/sms'),
  route('GET', '/api/v1/sms/:smsID'),
  route('GET', '/:tenant/a.b/*rest'),
  route('GET', '/x{/y}/:z'),
];
const loose = new RoutePaths(routes, { caseSensitive: false, strict: false });
const exact = new RoutePaths(routes, { caseSensitive: true, strict: true });
const path = (table: RoutePaths, method: string, target: string): string | undefined =>
  table.find(method, target)?.path;

describe('RouteTable', () => {
  test.each([
    ['POST', '/api/v1/send/sms', '/api/v1/send/sms'],
    ['POST', '/API/v1/Send/SMS/?a=b', '/api/v1/send/sms'],
    ['POST', 'http://example.org/api/v1/send/sms', '/api/v1/send/sms'],
    ['HEAD', '/api/v1/sms', '/api/v1/sms'],
    ['GET', '/api/v1/sms/', '/api/v1/sms'],
    ['GET', '/api/v1/sms/01-x/', '/api/v1/sms/:smsID'],
    ['GET', '/acme/A.B/c/d', '/:tenant/a.b/*rest'],
    ['GET', '/x/1', '/x{/y}/:z'],
    ['GET', '/x/y/1', '/x{/y}/:z'],
  ])('finds %s %s', (method, target, expected) => {
    expect(path(loose, method, target)).toBe(expected);
  });

  test.each([
    ['GET', '/api/v1/send/sms'],
    ['POST', '/api/v1/send/smsx'],
    ['POST', '/api/v1/send/sms//'],
    ['POST', '/api/v1/send'],
    ['POST', '//api/v1/send/sms'],
    ['GET', '/api/v1/sms/a/b'],
    ['GET', '/acme/aXb/c'],
    ['GET', '/'],
    ['GET', 'http://api/v1/sms'],
    ['OPTIONS', '*'],
  ])('leaves %s %s to the host', (method, target) => {
    expect(path(loose, method, target)).toBeUndefined();
  });

  test('is strict about case and slashes if Express is configured so', () => {
    expect(path(exact, 'GET', '/api/v1/sms')).toBe('/api/v1/sms');
    expect(path(exact, 'GET', '/api/v1/SMS')).toBeUndefined();
    expect(path(exact, 'GET', '/api/v1/sms/')).toBeUndefined();
    expect(path(exact, 'GET', '/api/v1/sms/1/')).toBeUndefined();
  });

  test('finds a route by the method and path with which it was registered', () => {
    expect(exact.registered('HEAD', '/api/v1/sms/:smsID')?.path).toBe('/api/v1/sms/:smsID');
    expect(exact.registered('GET', '/api/v1/sms/:id')).toBeUndefined();
  });
});
