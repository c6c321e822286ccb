import { describe, expect, test } from '@jest/globals';
import { MessagingOptionsError } from '../../../../src/common/errors.js';
import { SandboxSmsTransport } from '../../../../src/sandbox/sandbox-sms-transport.js';
import { RoutedSmsTransport } from '../../../../src/transports/routed/index.js';
import { resolveRoutes } from '../../../../src/transports/routed/routes.js';

const route = (over: object = {}) => ({ name: 'a', transport: SandboxSmsTransport, ...over });
/** Options as a host without types would write them. */
const forRoot = (options: unknown) => Reflect.apply(RoutedSmsTransport.forRoot, RoutedSmsTransport, [options]);

describe('options of routes', () => {
  test('have defaults', () => {
    const { name, routes } = resolveRoutes({ routes: [route()] });
    expect(name).toBe('routed');
    expect(routes).toMatchObject([
      {
        name: 'a',
        prefixes: [''],
        signatures: undefined,
        weight: 1,
        segmentsPerSecond: undefined,
        distinctRecipients: undefined,
        breaker: { failurePercent: 50, minSms: 5, windowMs: 60_000, openMs: 30_000 },
      },
    ]);
    expect(resolveRoutes({ routes: [route({ breaker: false })] }).routes[0]?.breaker).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ['Option routed must be an object.', undefined],
    ['Option routed.route is not known; the known options are routes, name.', { route: [] }],
    ['Option routed.routes must be a list of 1 to 100 routes.', { routes: [] }],
    ['Option routed.routes must be a list of 1 to 100 routes.', { routes: route() }],
    ['Option routed.name must be 1 to 40 lower-case letters', { routes: [route()], name: 'A b' }],
    ['Option routed.routes[0] must be an object.', { routes: [null] }],
    ['Option routed.routes[0].prefix is not known', { routes: [route({ prefix: ['226'] })] }],
    ['Option routed.routes[1].name must be', { routes: [route(), route({ name: 'Ouaga 1' })] }],
    ['Option routed.routes has two routes named "a".', { routes: [route(), route()] }],
    ['Option routed.routes[0].prefixes must be a list of first digits', { routes: [route({ prefixes: '226' })] }],
    ['Option routed.routes[0].prefixes must be a list of first digits', { routes: [route({ prefixes: [] })] }],
    ['Option routed.routes[0].prefixes must be a list of first digits', { routes: [route({ prefixes: ['+226'] })] }],
    ['Option routed.routes[0].signatures must be a list of signatures', { routes: [route({ signatures: [''] })] }],
    ['Option routed.routes[0].weight must be a number from 0 to 1000; got -1.', { routes: [route({ weight: -1 })] }],
    ['Option routed.routes[0].weight must be a number', { routes: [route({ weight: Number.NaN })] }],
    [
      'Option routed.routes[0].distinctRecipients.days must be an integer from 1 to 366',
      { routes: [route({ distinctRecipients: { count: 100, days: 0 } })] },
    ],
    [
      'Option routed.routes[0].distinctRecipients.days must be an integer from 1 to 366',
      { routes: [route({ distinctRecipients: { count: 100 } })] },
    ],
    [
      'Option routed.routes[0].segmentsPerSecond must be a number from 0.1',
      { routes: [route({ segmentsPerSecond: 0 })] },
    ],
    ['Option routed.routes[0].failOver must be a function.', { routes: [route({ failOver: true })] }],
    ['Option routed.routes[0].breaker must be an object.', { routes: [route({ breaker: null })] }],
    ['Option routed.routes[0].breaker.percent is not known', { routes: [route({ breaker: { percent: 5 } })] }],
    ['Option routed.routes[0].breaker.openMs must be an integer', { routes: [route({ breaker: { openMs: 1 } })] }],
    ['Option routed.routes[0].breaker.minSms must be', { routes: [route({ breaker: { minSms: 0.5 } })] }],
    [
      'Option routed.routes[0].breaker.failurePercent must be',
      { routes: [route({ breaker: { failurePercent: 100 } })] },
    ],
    ['Option routed.routes[0].breaker.windowMs must be', { routes: [route({ breaker: { windowMs: '60s' } })] }],
    ['Option routed.routes[0].transport must be a class', { routes: [{ name: 'a' }] }],
    [
      'Option routed.routes[0].transport must be a class, { useValue } or { useFactory, inject }, because the transports of modules',
      { routes: [route({ transport: RoutedSmsTransport.forRoot({ routes: [route()] }) })] },
    ],
  ])('are refused: %s', (sentence, options) => {
    expect(() => forRoot(options)).toThrow(MessagingOptionsError);
    expect(() => forRoot(options)).toThrow(sentence);
  });
});
