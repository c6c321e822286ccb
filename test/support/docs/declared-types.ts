import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from '@swc/core';

/** A declaration: its file and its name there. */
interface Place {
  readonly file: string;
  readonly name: string;
}

/** The names in one declaration file. */
interface Declarations {
  /** The nodes that are declared here, by name (a class and an interface may share one). */
  readonly own: ReadonlyMap<string, readonly unknown[]>;
  /** Names that are imported from files beside it. */
  readonly imported: ReadonlyMap<string, Place>;
  /** Exported names: a name declared here, or a place elsewhere. */
  readonly exported: ReadonlyMap<string, Place>;
  /** Files whose exports are all exported again. */
  readonly whole: readonly string[];
}

/** The parts of a tree that are read here. Each is checked before it is used. */
type Node = Readonly<Record<string, unknown>>;

/** Reads declaration files, each once, and follows names through them. */
function declarationReader() {
  const files = new Map<string, Declarations>();
  const read = (file: string): Declarations => {
    const known = files.get(file) ?? declarationsOf(file);
    files.set(file, known);
    return known;
  };
  /** Where a name is declared. */
  const home = ({ file, name }: Place): Place | undefined => {
    const { own, imported, exported, whole } = read(file);
    const elsewhere = imported.get(name) ?? exported.get(name);
    if (own.has(name)) return { file, name };
    if (elsewhere && elsewhere.file !== file) return home(elsewhere);
    if (elsewhere && elsewhere.name !== name) return home(elsewhere);
    return whole.map((each) => home({ file: each, name })).find((each) => each !== undefined);
  };
  const exportsOf = (file: string): Place[] => {
    const { exported, whole } = read(file);
    const named = [...exported.values()].flatMap((place) => home(place) ?? []);
    return [...named, ...whole.flatMap(exportsOf)];
  };
  return { read, home, exportsOf };
}

/** Names that an entry exports and whose declaration has no docstring: an editor would show nothing for them. */
export function undocumentedNames(entries: readonly string[]): string[] {
  const { exportsOf } = declarationReader();
  const bare = entries.flatMap(exportsOf).filter(({ file, name }) => {
    const declaration = `(?:abstract )?(?:class|interface|type|const|function|enum) ${name}\\b`;
    return !new RegExp(`\\*/\\s*export (?:declare )?${declaration}`).test(readFileSync(file, 'utf8'));
  });
  return [...new Set(bare.map(({ name }) => name))].sort();
}

/**
 * Types that a signature of some entry mentions and no entry exports. A host that wraps such a function cannot name
 * what it returns (TS2742). Constructors are left out: Nest calls most of them, and nobody's function returns one.
 */
export function unexportedTypes(entries: readonly string[]): string[] {
  const { read, home, exportsOf } = declarationReader();
  /** The `typeof` of a constant, and an alias that its own file keeps to itself. */
  const isSpelledOut = ({ file, name }: Place): boolean => {
    const { own, exported } = read(file);
    const types = exported.has(name) ? ['VariableDeclarator'] : ['VariableDeclarator', 'TsTypeAliasDeclaration'];
    return own.get(name)?.every((each) => types.includes(Object(each).type)) ?? false;
  };
  const idOf = ({ file, name }: Place): string => `${file}#${name}`;
  const open = entries.flatMap(exportsOf);
  const known = new Set(open.map(idOf));
  const missing = new Set<string>();
  for (const { file, name } of open) {
    for (const node of read(file).own.get(name) ?? []) {
      const { inSignatures, bases } = mentions(node);
      for (const mentioned of [...inSignatures, ...bases]) {
        const used = home({ file, name: mentioned });
        if (!used || known.has(idOf(used)) || idOf(used) === idOf({ file, name })) continue;
        const isBase = !inSignatures.has(mentioned);
        const seen = isBase ? `${idOf(used)} as a base` : idOf(used);
        if (known.has(seen)) continue;
        known.add(seen);
        // Nobody has to name the base of a type, whose members it has, or a type that the compiler spells out. Their
        // own types are checked instead.
        if (isBase || isSpelledOut(used)) open.push(used);
        else missing.add(used.name);
      }
    }
  }
  return [...missing].sort();
}

function declarationsOf(file: string): Declarations {
  const { body } = parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript' });
  const own = new Map<string, unknown[]>();
  const imported = new Map<string, Place>();
  const exported = new Map<string, Place>();
  const whole: string[] = [];
  const beside = (source: string): string => join(dirname(file), source.replace(/\.js$/, '.d.ts'));
  const declare = (declaration: Node): string[] => {
    const declarators = Array.isArray(declaration.declarations) ? declaration.declarations : [declaration];
    return declarators.map((each) => {
      const { value } = Object(each.identifier ?? each.id);
      own.set(value, [...(own.get(value) ?? []), each]);
      return value;
    });
  };
  for (const item of body) {
    if (item.type === 'ImportDeclaration' && item.source.value.startsWith('.')) {
      for (const each of item.specifiers) {
        const name = each.type === 'ImportSpecifier' ? (each.imported?.value ?? each.local.value) : each.local.value;
        imported.set(each.local.value, { file: beside(item.source.value), name });
      }
    } else if (item.type === 'ExportDeclaration') {
      for (const name of declare({ ...item.declaration })) exported.set(name, { file, name });
    } else if (item.type === 'ExportAllDeclaration') {
      whole.push(beside(item.source.value));
    } else if (item.type === 'ExportNamedDeclaration') {
      for (const each of item.specifiers) {
        if (each.type !== 'ExportSpecifier') continue;
        const from = item.source ? beside(item.source.value) : file;
        exported.set((each.exported ?? each.orig).value, { file: from, name: each.orig.value });
      }
    } else if ('declare' in item || item.type.startsWith('Ts')) {
      declare({ ...item });
    }
  }
  return { own, imported, exported, whole };
}

/**
 * Identifiers of a declaration that may name a type. Names of parameters are among them, and are not declared anywhere.
 */
function mentions(node: unknown): { readonly inSignatures: ReadonlySet<string>; readonly bases: ReadonlySet<string> } {
  const { superClass, superTypeParams, extends: extended, implements: _, ...rest } = Object(node);
  return { inSignatures: identifiersIn(rest), bases: identifiersIn([superClass, superTypeParams, extended]) };
}

function identifiersIn(node: unknown): Set<string> {
  const found = new Set<string>();
  const visit = (each: unknown): void => {
    if (typeof each !== 'object' || each === null) return;
    const { type, value, accessibility } = each as Node;
    if (type === 'Constructor' || accessibility === 'protected') return;
    if (type === 'Identifier' && typeof value === 'string') found.add(value);
    // The names of members are not types.
    for (const [part, below] of Object.entries(each)) if (part !== 'key') visit(below);
  };
  visit(node);
  return found;
}
