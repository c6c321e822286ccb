module.exports = { forbidden: [{ name: 'no-circular', severity: 'error', from: {}, to: { circular: true } }], options: { parser: 'swc', tsPreCompilationDeps: true, exclude: 'node_modules' } };
