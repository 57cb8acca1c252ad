// Reads requests from standard input and prints the syntax tree of each text as the Groovy compiler
// sees it after its conversion phase, in the form of `anyorder_groovy::print::show`.
//
// A request is a line `N`, then N bytes of text. The answer is a line `ok N` or `error N`, then N
// bytes: the tree, or the message.
import org.codehaus.groovy.ast.*
import org.codehaus.groovy.ast.expr.*
import org.codehaus.groovy.ast.stmt.*
import org.codehaus.groovy.control.*

class Show {
    StringBuilder out = new StringBuilder()

    static String quote(String s) {
        def b = new StringBuilder('"')
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i)
            if (c == (char) '"' || c == (char) '\\') b.append('\\').append(c)
            else if (c == (char) '\n') b.append('\\n')
            else if (c < 32 || c > 126) b.append(String.format('\\u%04x', (int) c))
            else b.append(c)
        }
        b.append('"').toString()
    }

    static String type(ClassNode t) {
        if (t == null) return '-'
        def dims = ''
        while (t.isArray()) { dims += '[]'; t = t.componentType }
        def name = t.name
        if (name.startsWith('java.lang.') || name.startsWith('java.math.') ||
            name.startsWith('groovy.lang.')) name = t.nameWithoutPackage
        name + dims
    }

    void many(String head, Collection<Object> parts) {
        out.append('(').append(head)
        parts.each { out.append(' '); show(it) }
        out.append(')')
    }

    void args(Expression e) {
        if (e instanceof NamedArgumentListExpression) { many('named', e.mapEntryExpressions); return }
        if (e instanceof TupleExpression) { many('args', e.expressions); return }
        many('args', [e])
    }

    void params(Parameter[] ps) {
        if (ps == null) { out.append('(no-parameters)'); return }
        out.append('(parameters')
        ps.each { p ->
            out.append(' (').append(p.name).append(' ').append(p.dynamicTyped ? '-' : type(p.type))
            annotations(p.annotations)
            if (p.hasInitialExpression()) { out.append(' = '); show(p.initialExpression) }
            out.append(')')
        }
        out.append(')')
    }

    void annotations(List<AnnotationNode> list) {
        list.each { a ->
            out.append(' @').append(type(a.classNode))
            out.append('(')
            a.members.each { k, v -> out.append(k).append('='); show(v); out.append(';') }
            out.append(')')
        }
    }

    void constant(ConstantExpression e) {
        def v = e.value
        if (v == null) out.append('null')
        else if (v instanceof String) out.append(quote(v))
        else if (v instanceof Boolean) out.append(v.toString())
        else if (v instanceof Integer) out.append("(int $v)")
        else if (v instanceof Long) out.append("(long $v)")
        else if (v instanceof BigInteger) out.append("(bigint $v)")
        else if (v instanceof BigDecimal) out.append("(decimal ${v.unscaledValue()} ${v.scale()})")
        else if (v instanceof Float) out.append("(float ${Float.floatToIntBits(v)})")
        else if (v instanceof Double) out.append("(double ${Double.doubleToLongBits(v)})")
        else if (v instanceof AnnotationNode) { out.append('(annotation'); annotations([v]); out.append(')') }
        else out.append("(constant ${v.class.name} ${v})")
    }

    void show(Object e) {
        switch (e) {
            case null: out.append('nothing'); break
            case ConstantExpression: constant(e); break
            case EmptyExpression: out.append('empty'); break
            case DeclarationExpression:
                out.append('(declare')
                annotations(e.annotations)
                out.append(' ')
                def target = e.leftExpression
                if (target instanceof VariableExpression) variable(target)
                else {
                    out.append('(many')
                    target.expressions.each { out.append(' '); variable(it) }
                    out.append(')')
                }
                out.append(' ')
                show(e.rightExpression)
                out.append(')')
                break
            case VariableExpression: out.append(e.name); break
            case ClassExpression:
                out.append('(class ').append(e.type instanceof EnumConstantClassNode ? 'body' : type(e.type)).append(')'); break
            case ConstructorCallExpression:
                if (e.isSuperCall() || e.isThisCall()) {
                    out.append(e.isSuperCall() ? '(super-call ' : '(this-call ')
                    args(e.arguments)
                    out.append(')')
                } else {
                    out.append('(new ').append(e.usingAnonymousInnerClass ? 'anonymous' : type(e.type)).append(' ')
                    args(e.arguments)
                    if (e.usingAnonymousInnerClass) { out.append(' '); members(e.type) }
                    out.append(')')
                }
                break
            case MethodCallExpression:
                out.append(e.spreadSafe ? '(call* ' : e.safe ? '(call? ' : '(call ')
                if (e.implicitThis && e.objectExpression instanceof VariableExpression && e.objectExpression.name == 'this') out.append('-') else show(e.objectExpression)
                out.append(' ')
                show(e.method)
                out.append(' ')
                args(e.arguments)
                out.append(')')
                break
            case AttributeExpression:
                out.append(e.spreadSafe ? '(field* ' : e.safe ? '(field? ' : '(field ')
                show(e.objectExpression); out.append(' '); show(e.property); out.append(')')
                break
            case PropertyExpression:
                out.append(e.spreadSafe ? '(get* ' : e.safe ? '(get? ' : '(get ')
                show(e.objectExpression); out.append(' '); show(e.property); out.append(')')
                break
            case MethodPointerExpression: many('pointer', [e.expression, e.methodName]); break
            case BinaryExpression:
                out.append('(').append(e.operation.text == '[' ? 'index' : e.operation.text).append(' ')
                show(e.leftExpression); out.append(' '); show(e.rightExpression); out.append(')')
                break
            case UnaryMinusExpression: many('minus', [e.expression]); break
            case UnaryPlusExpression: many('plus', [e.expression]); break
            case BitwiseNegationExpression: many('complement', [e.expression]); break
            case NotExpression: many('not', [e.expression]); break
            case PostfixExpression: many('postfix ' + e.operation.text, [e.expression]); break
            case PrefixExpression: many('prefix ' + e.operation.text, [e.expression]); break
            case ElvisOperatorExpression: many('elvis', [e.trueExpression, e.falseExpression]); break
            case TernaryExpression:
                many('conditional', [e.booleanExpression, e.trueExpression, e.falseExpression]); break
            case BooleanExpression: show(e.expression); break
            case ClosureExpression:
                out.append('(closure ')
                params(e.parameters); out.append(' '); show(e.code); out.append(')')
                break
            case ClosureListExpression: many('classic', e.expressions); break
            case NamedArgumentListExpression: many('named', e.mapEntryExpressions); break
            case TupleExpression: many('args', e.expressions); break
            case ListExpression: many('list', e.expressions); break
            case MapExpression: many('map', e.mapEntryExpressions); break
            case MapEntryExpression: many('entry', [e.keyExpression, e.valueExpression]); break
            case RangeExpression: many(e.inclusive ? 'range' : 'range-exclusive', [e.from, e.to]); break
            case GStringExpression:
                out.append('(parts')
                e.strings.eachWithIndex { s, i ->
                    out.append(' '); show(s)
                    if (i < e.values.size()) { out.append(' '); show(e.values[i]) }
                }
                // An empty text behind the last part may be missing.
                if (e.strings.size() == e.values.size()) out.append(' ""')
                out.append(')')
                break
            case CastExpression:
                out.append(e.coerce ? '(as ' : '(cast ').append(type(e.type)).append(' ')
                show(e.expression); out.append(')')
                break
            case ArrayExpression:
                out.append('(new-array ').append(type(e.elementType))
                if (e.sizeExpression != null) e.sizeExpression.each { out.append(' '); show(it) }
                out.append(')')
                break
            case SpreadMapExpression: many('spread-map', [e.expression]); break
            case SpreadExpression: many('spread', [e.expression]); break
            case AnnotationConstantExpression: out.append('(annotation'); annotations([e.value]); out.append(')'); break
            case Statement: statement(e); break
            default: out.append('(unknown ' + e.class.name + ')')
        }
    }

    void variable(VariableExpression e) {
        out.append('(').append(e.name).append(' ').append(e.dynamicTyped ? '-' : type(e.originType)).append(')')
    }

    void statement(Statement s) {
        s.statementLabels?.reverse()?.each { out.append('(label ').append(it).append(' ') }
        plain(s)
        s.statementLabels?.each { out.append(')') }
    }

    void plain(Statement s) {
        switch (s) {
            case BlockStatement: many('block', s.statements); break
            case ExpressionStatement: show(s.expression); break
            case IfStatement: many('if', [s.booleanExpression, s.ifBlock, s.elseBlock]); break
            case WhileStatement: many('while', [s.booleanExpression, s.loopBlock]); break
            case ForStatement:
                out.append('(for ')
                if (s.variable.is(ForStatement.FOR_LOOP_DUMMY)) out.append('- ')
                else { params([s.variable] as Parameter[]); out.append(' ') }
                show(s.collectionExpression); out.append(' '); show(s.loopBlock); out.append(')')
                break
            case ReturnStatement: many('return', [s.expression]); break
            case BreakStatement: out.append('(break ' + (s.label ?: '-') + ')'); break
            case ContinueStatement: out.append('(continue ' + (s.label ?: '-') + ')'); break
            case ThrowStatement: many('throw', [s.expression]); break
            case AssertStatement: many('assert', [s.booleanExpression, s.messageExpression]); break
            case SwitchStatement: many('switch', [s.expression, *s.caseStatements, s.defaultStatement]); break
            case CaseStatement: many('case', [s.expression, s.code]); break
            case TryCatchStatement: many('try', [s.tryStatement, *s.catchStatements, s.finallyStatement]); break
            case CatchStatement:
                out.append('(catch ')
                params([s.variable] as Parameter[]); out.append(' '); show(s.code); out.append(')')
                break
            case SynchronizedStatement: many('synchronized', [s.expression, s.code]); break
            case EmptyStatement: out.append('empty'); break
            default: out.append('(unknown ' + s.class.name + ')')
        }
    }

    void method(MethodNode m) {
        out.append(m instanceof ConstructorNode ? '(constructor' : '(method ' + quote(m.name) + ' ' + (m.dynamicReturnType ? '-' : type(m.returnType)))
        annotations(m.annotations)
        out.append(' ')
        params(m.parameters)
        if (m.exceptions) out.append(' throws ' + m.exceptions.collect { type(it) }.join(','))
        out.append(' ')
        show(m.code)
        out.append(')')
    }

    void members(ClassNode c) {
        out.append('(members')
        c.fields.each { f ->
            out.append(' (variable ').append(f.name).append(' ')
            out.append(f.dynamicTyped ? '-' : f.enum ? 'constant' : type(f.type))
            annotations(f.annotations)
            out.append(' ')
            show(f.initialValueExpression)
            out.append(')')
        }
        c.objectInitializerStatements.each { out.append(' (initializer '); show(it); out.append(')') }
        c.declaredConstructors.each { out.append(' '); method(it) }
        c.methods.each { out.append(' '); method(it) }
        out.append(')')
    }

    void module(ModuleNode m) {
        out.append('(script')
        if (m.packageName) out.append(' (package ' + m.packageName + ')')
        def imports = { list -> list.sort(false).each { out.append(' ').append(it) } }
        imports(m.imports.collect { "(import ${type(it.type)} ${it.alias})".toString() })
        imports(m.starImports.collect { "(import* ${it.packageName})".toString() })
        imports(m.staticImports.collect { k, v -> "(import-static ${type(v.type)} ${v.fieldName} ${k})".toString() })
        imports(m.staticStarImports.collect { k, v -> "(import-static* ${type(v.type)})".toString() })
        m.methods.each { out.append(' '); method(it) }
        def classes = new ArrayList(m.@classes)
        classes.each { c ->
            if (c instanceof InnerClassNode && c.anonymous || c.script) return
            if (c instanceof EnumConstantClassNode || c.name =~ /\$\d/) return
            out.append(c.interface ? ' (interface ' : c.enum ? ' (enum ' : ' (class ')
            out.append(c.nameWithoutPackage)
            annotations(c.annotations)
            out.append(' (extends ' + type(c.unresolvedSuperClass) + ')')
            out.append(' (implements')
            c.interfaces.each { out.append(' ' + type(it)) }
            out.append(') ')
            members(c)
            out.append(')')
        }
        // A script without statements gets this one.
        def own = m.statementBlock.statements.findAll { !it.is(ReturnStatement.RETURN_NULL_OR_VOID) }
        own.each { out.append(' '); show(it) }
        out.append(')')
    }
}

def input = new DataInputStream(new BufferedInputStream(System.in))
def output = new BufferedOutputStream(System.out)
while (true) {
    def line = input.readLine()
    if (line == null) break
    byte[] bytes = new byte[line.trim() as int]
    input.readFully(bytes)
    String status = 'ok', answer
    try {
        def config = new CompilerConfiguration()
        config.sourceEncoding = 'UTF-8'
        def errors = new ErrorCollector(config)
        def loader = new GroovyClassLoader(this.class.classLoader, config, false)
        def unit = new SourceUnit('Script1.groovy', new String(bytes, 'UTF-8'), config, loader, errors)
        unit.parse()
        unit.completePhase()
        unit.nextPhase()
        unit.convert()
        def show = new Show()
        show.module(unit.AST)
        if (errors.hasErrors()) throw new RuntimeException('errors')
        answer = show.out.toString()
    } catch (Throwable e) {
        status = 'error'
        answer = e.message ?: e.class.name
        if (System.getenv('TRACE')) e.printStackTrace()
    }
    byte[] result = answer.getBytes('UTF-8')
    output.write("$status ${result.length}\n".getBytes('UTF-8'))
    output.write(result)
    output.write((byte) 10)
    output.flush()
}
