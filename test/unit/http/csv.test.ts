import { expect, test } from '@jest/globals';
import { csvLine } from '../../../src/http/csv.js';

test.each([
  ['=1+1', "'=1+1"],
  ['+22670000001', "'+22670000001"],
  ['-x', "'-x"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\tx', "'\tx"],
  ['\rx', '"\'\rx"'],
  [' =1', "' =1"],
  ['\ufeff=1', "'\ufeff=1"],
  ['\uff1d1', "'\uff1d1"],
  ['a;=1', "a;'=1"],
  ['a\n=1', '"a\n\'=1"'],
  ['a "b", c', '"a ""b"", c"'],
  ['-3', '-3'],
  ['a=b', 'a=b'],
])('the cell %j is written as %j, so that no spreadsheet reads a formula', (cell, written) => {
  expect(csvLine([cell, 1, null])).toBe(`${written},1,\r\n`);
});
