import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { METRICS } from '../../src/telemetry/metrics.js';
import { readDoc } from '../support/docs/readme.js';
import { program } from '../support/transports/carriers/installed.js';
import { alertExpressions, dashboardExpressions, hasPrometheus, metricBehind, RULES, selectorsOf } from './shipped.js';

const TESTS = join(import.meta.dirname, 'alerts.test.yml');
const shipped = [...dashboardExpressions(), ...alertExpressions()];

/** The functions around a series, from the inside out. */
function around(expr: string, series: string): string[] {
  const at = expr.indexOf(series);
  const open: string[] = [];
  for (const [, name = '', bracket = ''] of expr.slice(0, at).matchAll(/(\w*)(?: by \([^)]*\) ?)?([()])/g)) {
    if (bracket === '(') open.push(name);
    else open.pop();
  }
  return open.reverse().filter((name) => name !== '');
}

describe('the shipped rules and dashboards', () => {
  test('there are many expressions', () => {
    expect(dashboardExpressions().length).toBeGreaterThan(60);
    expect(alertExpressions()).toHaveLength(12);
  });

  test.each(shipped)('$place uses only metrics and labels that exist', ({ expr }) => {
    const selectors = selectorsOf(expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { name, labels } of selectors) {
      const metric = metricBehind(name);
      expect([name, metric === undefined]).toEqual([name, false]);
      expect(Object.keys({ ...metric?.labels, instance: '' })).toEqual(expect.arrayContaining([...labels]));
    }
  });

  test.each(shipped)('$place never adds up a value that every process reads from the same database', ({ expr }) => {
    const database = selectorsOf(expr).filter(({ name }) => metricBehind(name)?.scope === 'database');
    for (const { name } of database) expect(around(expr, `messaging_${name}`)[0]).toBe('max');
  });

  test('such a sum is detected', () => {
    expect(around('sum(messaging_low_accounts) > 0', 'messaging_low_accounts')[0]).toBe('sum');
    const nested = 'time() - max by (channel, status) (messaging_open_deliveries)';
    expect(around(nested, 'messaging_open_deliveries')[0]).toBe('max');
  });

  test('every metric is on a dashboard', () => {
    const shown = dashboardExpressions().flatMap(({ expr }) => selectorsOf(expr).map(({ name }) => name));
    const bases = new Set(shown.map((name) => (name in METRICS ? name : name.replace(/_(bucket|sum|count)$/, ''))));
    expect(Object.keys(METRICS).filter((name) => !bases.has(name))).toEqual([]);
  });

  test.each(alertExpressions())('the docs say what to do if $place fires', ({ place }) => {
    expect(readDoc('docs/operations.md')).toContain(`| \`${place}\` |`);
  });
});

(hasPrometheus() ? describe : describe.skip)('promtool', () => {
  const promtool = (...args: string[]) => execFileSync(program('promtool'), args, { encoding: 'utf8', stdio: 'pipe' });

  test('promtool finds no fault in the rules', () => {
    expect(promtool('check', 'rules', RULES)).toContain('SUCCESS: 12 rules found');
  });

  test('each alert fires for its series, and none fires on a healthy service', () => {
    const tests = readFileSync(TESTS, 'utf8');
    for (const { place } of alertExpressions()) {
      const asked = tests.match(new RegExp(`alertname: ${place}\\n +exp_alerts:(.*)`, 'g')) ?? [];
      expect([place, asked.filter((each) => each.endsWith('[]')).length >= 1]).toEqual([place, true]);
      expect([place, asked.some((each) => !each.endsWith('[]'))]).toEqual([place, true]);
    }
    expect(promtool('test', 'rules', TESTS)).toContain('SUCCESS');
  });
});
