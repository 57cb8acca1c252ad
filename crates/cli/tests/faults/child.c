/* A program behind a pipe, as small as can be: `click` fails unless `load` ran before it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    static char line[1 << 16];
    int loaded = 0, clicked = 0;
    while (fgets(line, sizeof line, stdin)) {
        const char *id = strstr(line, "\"id\":");
        printf("{\"id\":%ld,", id ? strtol(id + 5, NULL, 10) : 0);
        if (strstr(line, "\"hello\"")) {
            printf("\"ok\":{\"version\":1,\"program\":{\"name\":\"page\"},\"capabilities\":"
                   "{\"enabled\":\"exact\",\"deterministic\":true,\"values\":true,\"accesses\":\"list\"}}}");
        } else if (strstr(line, "\"reset\"")) {
            loaded = clicked = 0;
            printf("\"ok\":{}}");
        } else if (strstr(line, "\"enabled\"")) {
            printf("\"ok\":{\"tasks\":[%s%s%s]}}", loaded ? "" : "{\"task\":\"load\",\"handler\":\"ui\"}",
                   loaded || clicked ? "" : ",", clicked ? "" : "{\"task\":\"click\",\"handler\":\"ui\"}");
        } else if (strstr(line, "\"execute\"") && strstr(line, "load")) {
            printf("\"ok\":{\"accesses\":[{\"location\":\"ready\",\"kind\":\"write\",\"written\":1}]}}");
            loaded = 1;
        } else if (strstr(line, "\"execute\"")) {
            printf("\"ok\":{\"accesses\":[{\"location\":\"ready\",\"kind\":\"read\",\"read\":%d}]%s}}",
                   loaded, loaded ? "" : ",\"failures\":[\"clicked too early\"]");
            clicked = 1;
        } else if (strstr(line, "\"observe\"")) {
            printf("\"ok\":{\"parts\":[{\"path\":[\"page\"],\"level\":\"output\",\"content\":\"%d%d\"}]}}", loaded, clicked);
        } else {
            printf("\"ok\":{}}");
        }
        putchar('\n');
        fflush(stdout);
        if (strstr(line, "\"quit\"")) break;
    }
    return 0;
}
