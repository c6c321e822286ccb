import {
  type Abstract,
  type DynamicModule,
  type InjectionToken,
  type ModuleMetadata,
  type OptionalFactoryDependency,
  type Provider,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';
import { classFault, portFault, portName } from '../common/port.js';

/** What a host gives for a port: a class, a value, a factory, or a module that exports it. */
export type PortSource<T extends object> =
  | Type<T>
  | { readonly useValue: T }
  | {
      readonly imports?: ModuleMetadata['imports'] | undefined;
      readonly inject?: (InjectionToken | OptionalFactoryDependency)[] | undefined;
      readonly useFactory: (...injected: never[]) => T | Promise<T>;
    }
  | DynamicModule;

/** The parts of a module that provide a port. */
export interface PortParts {
  readonly imports: NonNullable<ModuleMetadata['imports']>;
  readonly providers: Provider[];
  /** The token, or the module that provides it: Nest does not export a token that another module provides. */
  readonly exports: NonNullable<ModuleMetadata['exports']>;
}

const IMPORTS = 'nestjs-messaging:imports';

/** Names the modules that provide what an implementation of a port injects; they are imported where the class is given. */
export const ImportsModules = (...modules: readonly Type<object>[]): ClassDecorator => SetMetadata(IMPORTS, modules);

/**
 * Makes the parts of a module that provide `token` from what the host gave.
 * @param option the option's name, for the error
 * @throws MessagingOptionsError when `source` cannot provide a port
 */
export function providePort<T extends object>(option: string, token: Abstract<T>, source: PortSource<T>): PortParts {
  if (typeof source === 'function' && source.prototype !== undefined) {
    // The class of a module stands for the module, as in `imports`.
    if (isModule(source)) return { imports: [source], providers: [], exports: [source] };
    return {
      imports: Reflect.getMetadata(IMPORTS, source) ?? [],
      providers: [{ provide: token, useClass: checkedClass(option, token, source) }],
      exports: [token],
    };
  }
  if (typeof source === 'object' && source !== null) {
    if ('module' in source) return { imports: [source], providers: [], exports: [source] };
    if ('useValue' in source) {
      const useValue = portOf(option, token, source.useValue);
      return { imports: [], providers: [{ provide: token, useValue }], exports: [token] };
    }
    if ('useFactory' in source && typeof source.useFactory === 'function') {
      const { useFactory, inject = [], imports = [] } = source;
      const checked = async (...injected: unknown[]): Promise<T> =>
        portOf(option, token, await invokeFactory(useFactory, injected));
      return { imports, providers: [{ provide: token, useFactory: checked, inject }], exports: [token] };
    }
  }
  throw new MessagingOptionsError(
    `Option ${option} must be a class, { useValue }, { useFactory, inject } or a module that exports ${token.name}.`,
  );
}

function isModule(source: object): boolean {
  return ['imports', 'providers', 'exports'].some((part) => Reflect.hasMetadata(part, source));
}

/** Checks an object at start; otherwise a missing method would only fail at its first call. */
function portOf<T extends object>(option: string, token: Abstract<T>, port: T): T {
  const fault = portFault(token, port);
  if (fault === undefined) return port;
  throw wrongPort(option, token, fault);
}

/** A subclass whose constructor checks the instance, because fields exist only then. */
function checkedClass<T extends object>(option: string, token: Abstract<T>, source: Type<T>): Type<object> {
  const fault = classFault(token, source);
  if (fault !== undefined) throw wrongPort(option, token, fault);
  const Source: Type<object> = source;
  class Checked extends Source {
    constructor(...injected: unknown[]) {
      super(...injected);
      portOf<object>(option, token, this);
    }
  }
  // Nest finds the injected types by inheritance; name and constructor are those of the source for everything else.
  Object.defineProperty(Checked, 'name', { value: source.name });
  Object.defineProperty(Checked.prototype, 'constructor', { value: source });
  return Checked;
}

function wrongPort(option: string, token: Abstract<object>, fault: string): MessagingOptionsError {
  return new MessagingOptionsError(`Option ${option} must give ${portName(token)}; ${fault}.`);
}

/** Calls a factory of the host with what Nest injected; only the host knows the types. */
export function invokeFactory<V>(useFactory: (...injected: never[]) => V, injected: readonly unknown[]): V {
  return Reflect.apply(useFactory, undefined, injected as never[]);
}
