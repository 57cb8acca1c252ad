// Reads requests from standard input, runs each as a script, and prints what it printed.
//
// A request is a line `N`, then N bytes of text. The answer is a line `ok N`, then N bytes: what the
// script printed, and a line `!! Class` if it ended with an exception.
import org.codehaus.groovy.control.CompilationFailedException

def input = new DataInputStream(new BufferedInputStream(System.in))
def output = new BufferedOutputStream(System.out)
while (true) {
    def line = input.readLine()
    if (line == null) break
    byte[] bytes = new byte[line.trim() as int]
    input.readFully(bytes)
    def printed = new StringWriter()
    String status = 'ok'
    try {
        def writer = new PrintWriter(printed)
        new GroovyShell(new Binding([out: writer])).evaluate(new String(bytes, 'UTF-8'))
        writer.flush()
    } catch (CompilationFailedException e) {
        status = 'error'
        printed.write(e.message)
    } catch (Throwable e) {
        printed.write('!! ' + e.class.simpleName + '\n')
        if (System.getenv('TRACE')) System.err.println(e)
    }
    byte[] result = printed.toString().getBytes('UTF-8')
    output.write("$status ${result.length}\n".getBytes('UTF-8'))
    output.write(result)
    output.write((byte) 10)
    output.flush()
}
