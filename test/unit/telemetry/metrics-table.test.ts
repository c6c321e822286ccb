import { expect, test } from '@jest/globals';
import { metricsTable, openLabels } from '../../support/docs/metrics-table.js';
import { readDoc } from '../../support/docs/readme.js';

test('docs/telemetry.md lists all metrics with the labels that they have in the code', () => {
  const doc = readDoc('docs/telemetry.md');
  expect(doc).toContain(metricsTable());
  expect(doc).toContain(openLabels());
});
