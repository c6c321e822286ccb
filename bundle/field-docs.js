import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A field of a type. */
const FIELD = /^(?<indent>\s+)(?:readonly )?(?<quote>'?)(?<name>[\w.]+)\k<quote>\??: /;

/** A schema that a module exports. */
const DECLARATION = /^export declare const (?<declared>\w+)/;

/**
 * Writes the descriptions of schemas into the declarations of an `*.api.ts` module, as docstrings of the fields: the
 * compiler does not know them, and editors show them where a field is used.
 *
 * @param declarations the compiled declarations and their map
 * @param file the compiled module
 */
export async function withFieldDocs({ code, map }, file) {
  const schemas = await import(pathToFileURL(resolve(file)).href);
  const { mappings, ...rest } = JSON.parse(map);
  const mappingsOf = mappings.split(';');
  /** The schemas that the line is in, the outermost first, each with the indentation of its name. */
  let around = [];
  const lines = code.split('\n').flatMap((line, index) => {
    const mapping = mappingsOf[index] ?? '';
    const { declared } = DECLARATION.exec(line)?.groups ?? {};
    if (declared !== undefined) around = [{ depth: -1, schema: schemas[declared] }];
    const { indent, name } = FIELD.exec(line)?.groups ?? {};
    if (name === undefined) return [{ line, mapping }];
    around = around.filter(({ depth }) => depth < indent.length);
    const schema = fieldsOf(around.at(-1)?.schema)?.[name];
    around.push({ depth: indent.length, schema });
    const description = schema?.description;
    if (description === undefined) return [{ line, mapping }];
    return [
      { line: `${indent}/** ${description} */`, mapping: '' },
      { line, mapping },
    ];
  });
  return {
    code: lines.map(({ line }) => line).join('\n'),
    map: JSON.stringify({ ...rest, mappings: lines.map(({ mapping }) => mapping).join(';') }),
  };
}

/** The fields of an object, or of the objects in a list. A group of schemas is taken as its fields. */
function fieldsOf(schema) {
  if (schema?.items !== undefined) return fieldsOf(schema.items);
  return typeof schema?.type === 'string' ? schema.properties : schema;
}
