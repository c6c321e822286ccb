import { describe, expect, test } from '@jest/globals';
import { ACCOUNT_ROLES, KEY_SCOPES, OPERATOR_ROLES } from '../../src/accounts/keys/permissions.js';
import { DELIVERY_STATES, DELIVERY_STATUSES } from '../../src/events/delivery-status.js';
import { EVENT_TYPES } from '../../src/events/event-types.js';
import { CODE_RULES } from '../../src/events/events.api.js';
import { SESSION_STATUSES } from '../../src/events/session-status.js';
import { ATTEMPT_ERRORS } from '../../src/sms/sms.api.js';
import { OPEN, PERMISSION_TABLE } from '../support/accounts/permission-table.js';
import { readDoc } from '../support/docs/readme.js';

// The documentation lists words that the code declares. `metrics-table.test.ts` and `error-answer.test.ts` do this for metrics
// and for words of errors.

/** The tables of a page whose head begins with this cell, row by row, without the head. */
function tables(path: string, firstCell: string): string[][][] {
  const [, ...bodies] = readDoc(path).split(`\n| ${firstCell} |`);
  return bodies.map((body) => {
    const [, rows = ''] = /^[^\n]*\n\|[-|]+\n((?:\|.*\n)+)/.exec(body) ?? [];
    const lines = rows.trimEnd().split('\n');
    return lines.map((row) => row.slice(2, -2).split(' | '));
  });
}

/** The first of these tables. */
function table(path: string, firstCell: string): string[][] {
  const [first = []] = tables(path, firstCell);
  return first;
}

/** The words in code marks of a text. */
function words(text = ''): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

/** The words in code marks of the first column of a table. */
function firstWords(path: string, firstCell: string): string[] {
  return table(path, firstCell).flatMap(([first]) => words(first));
}

/** The states to which the arrows of a diagram lead. */
function drawnStates(heading: string): string[] {
  const [, picture = ''] = readDoc('docs/architecture.md').split(`## ${heading}\n`);
  const [drawn = ''] = picture.split('```\n');
  return [...new Set([...drawn.matchAll(/ --> (\w+)/g)].map(([, status = '']) => status))].sort();
}

describe('states', () => {
  test('docs/http-api.md says of each state of a delivery what the table says', () => {
    const declared = Object.entries(DELIVERY_STATES).map(([status, { meaning }]) => [`\`${status}\``, meaning]);
    expect(table('docs/http-api.md', 'state')).toEqual(declared);
  });

  test('docs/architecture.md draws each', () => {
    expect(drawnStates('States of a delivery')).toEqual([...DELIVERY_STATUSES].sort());
    expect(drawnStates('States of a session')).toEqual([...SESSION_STATUSES].sort());
  });

  test('docs/http-api.md names each error of an attempt', () => {
    const [, named = ''] =
      /`error` of an attempt is a code from a closed list[^:]*: ([^.]*)\./.exec(readDoc('docs/http-api.md')) ?? [];
    expect(words(named)).toEqual([...ATTEMPT_ERRORS]);
  });
});

describe('events', () => {
  test('docs/events.md has a row for each type, in the order of the log', () => {
    expect(firstWords('docs/events.md', 'type')).toEqual([...EVENT_TYPES]);
  });

  test('docs/events.md names each rule that refuses a code', () => {
    const [, when] = table('docs/events.md', 'type').find(([first]) => first === '`otp.refused`') ?? [];
    expect(words(when)).toEqual(['reason', ...CODE_RULES]);
  });
});

describe('permissions', () => {
  test('docs/keys.md has a row for each scope', () => {
    const scopes = table('docs/keys.md', 'scope').map(([first]) => words(first)[0]);
    expect(scopes).toEqual([...KEY_SCOPES]);
  });

  test('docs/management.md has a row for each role, the lowest first', () => {
    expect(firstWords('docs/management.md', 'role in an account')).toEqual([...ACCOUNT_ROLES]);
    expect(firstWords('docs/management.md', 'role at the operator')).toEqual([...OPERATOR_ROLES]);
  });

  test.each([
    ['the account', 'user', 0],
    ['the operator', 'operator', 1],
  ] as const)('docs/management-api.md names the least role of each route for users of %s', (_, kind, nth) => {
    const rows = tables('docs/management-api.md', 'route')[nth] ?? [];
    expect(rows.length).toBeGreaterThan(5);
    for (const [first = '', , least = ''] of rows) {
      const [changing, reading = changing] = words(least);
      for (const route of routesOf(first)) {
        const rule = PERMISSION_TABLE[route];
        if (rule === undefined || rule === OPEN) throw new Error(`${route} is in no table.`);
        expect([route, route.startsWith('GET') ? reading : changing]).toEqual([route, rule[kind]]);
      }
    }
  });
});

/** The routes of a cell: `` `POST …/rest`, `/resume` `` is two, and so is `` `GET`, `POST …` ``, of one path. */
function routesOf(cell: string): string[] {
  const found: string[] = [];
  const alone: string[] = [];
  for (const word of words(cell)) {
    const [method = '', path] = word.replace(/\?.*$/, '').replace(/:\w+/g, ':id').split(' ');
    const last = found.at(-1);
    if (/^[A-Z]+$/.test(method) && path === undefined) alone.push(method);
    else if (/^[A-Z]+$/.test(method)) found.push(...[...alone.splice(0), method].map((each) => `${each} ${path}`));
    else if (/^\/\w+$/.test(method) && last !== undefined) found.push(last.replace(/\/\w+$/, method));
  }
  return found;
}
