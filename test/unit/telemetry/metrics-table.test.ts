import { expect, test } from '@jest/globals';
import { metricsTable, openLabels } from '../../support/metrics-table.js';
import { readPaper } from '../../support/readme.js';

test('docs/telemetry.md has all metrics with their labels, as the code has them', () => {
  const paper = readPaper('docs/telemetry.md');
  expect(paper).toContain(metricsTable());
  expect(paper).toContain(openLabels());
});
