import { expect, test } from '@jest/globals';
import {
  numberColumnOf,
  readTable,
  recipientsOf,
  variableNames,
} from '../../../src/dashboard/web/screens/compose/table.js';
import { rowsOf } from '../../../src/dashboard/web/screens/shared/csv-rows.js';

test.each([
  [
    'a,b\n1,2',
    [
      [1, ['a', 'b']],
      [2, ['1', '2']],
    ],
  ], // prettier-ignore
  [
    '\ufeffa;"b,c"\r\n"1;""x""\r\ny";2\r\r\n3;4\n',
    [
      [1, ['a', 'b,c']],
      [2, ['1;"x"\r\ny', '2']],
      [5, ['3', '4']],
    ],
  ],
  [
    'a\tb\n\n\t\n5" pipe\t',
    [
      [1, ['a', 'b']],
      [4, ['5" pipe', '']],
    ],
  ],
  ['', []],
  [
    'a,b\n"cut,\n1,2\n',
    [
      [1, ['a', 'b']],
      [2, undefined],
    ],
  ],
  [
    'a\n"x"y\n',
    [
      [1, ['a']],
      [2, undefined],
    ],
  ],
])('%j has the rows %j', (text, rows) => {
  expect([...rowsOf(text)].map(({ line, cells }) => [line, cells])).toEqual(rows);
});

test('a megabyte in one cell that is never closed is read at once', () => {
  expect([...rowsOf(`a\n"${'x""'.repeat(400_000)}`)].at(-1)).toEqual({ line: 2, cells: undefined });
});

test('headings become names of variables that the service accepts', () => {
  const titles = [
    'Prénom',
    'Nom de famille',
    '2e rang',
    '',
    'Prenom',
    '!',
    `${'x'.repeat(40)}`,
    'x'.repeat(33),
    'Œuvre',
    '名前',
  ];
  const names = variableNames(titles);
  expect(names).toEqual([
    'Prenom',
    'Nom_de_famille',
    '_2e_rang',
    'column_4',
    'Prenom_2',
    'column_6',
    'x'.repeat(32),
    `${'x'.repeat(30)}_2`,
    'uvre',
    'column_10',
  ]);
  for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,31}$/);
});

test('the column of the numbers is found, with headings and without', () => {
  expect(numberColumnOf(readTable('ref,name,phone\n12345678,Awa,+226 70 00 00 01\nA-2,Zoé,22670000002\n'))).toBe(2);
  const bare = readTable('Awa;22670000001\nZoé;22670000002');
  expect([numberColumnOf(bare), bare.names, bare.rows.length]).toEqual([1, ['column_1', 'column_2'], 2]);
  expect(numberColumnOf(readTable(''))).toBe(0);
});

test('rows that the service would refuse are left out, each with its line and reason', () => {
  const long = 'é'.repeat(501);
  const table = readTable(
    `phone,name,city\n22670000001,Awa,Bobo\n7,Paul,x\n22670000002\n22670000003,"two\nlines",x\n22670000001,Again,x\n22670000004,${long},x\n22670000005,,x\n22670000006,${'👍'.repeat(500)},${long}\n`,
  );
  const { to, bad, duplicates, empty } = recipientsOf(table, 0, ['name', 'unknown']);
  expect(to.map(({ number, vars }) => [number, vars.name])).toEqual([
    ['22670000001', 'Awa'],
    ['22670000003', 'two\nlines'],
    ['22670000005', ''],
    ['22670000006', '👍'.repeat(500)],
  ]);
  expect(to.every(({ vars }) => Object.keys(vars).join() === 'name')).toBe(true);
  expect([duplicates, empty]).toEqual([1, 1]);
  expect(bad).toEqual([
    { line: 3, reason: 'number', of: '7' },
    { line: 4, reason: 'missing', of: 'name' },
    { line: 8, reason: 'long', of: 'name' },
  ]);
});

test.each([
  ['number,name\n22670000001,"Awa\n', { reason: 'quote', line: 2 }],
  [`number,name\n22670000001,Zo\ufffd\n`, { reason: 'encoding', line: 2 }],
])('of %j nothing is used', (text, fault) => {
  expect(readTable(text)).toMatchObject({ fault, rows: [] });
});
